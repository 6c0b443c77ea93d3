/** The table of `shared`. */
import { column, ratio, rowTable } from "./row-table.ts";
import type { ScenarioResult } from "./schema.ts";

export function sharedTable(result: ScenarioResult): string[] {
  return [
    ...rowTable(
      result,
      ["case", "contender", "bytes, or threads"],
      [
        column("p50", ({ p50, unit }) => `${p50} ${unit}`),
        column("lowest", ({ min, unit }) => `${min} ${unit}`),
        column("p50 × raw ring", ({ ratioToBaseline }) => ratio(ratioToBaseline)),
        column("p50 × hot call", ({ ratioToReference }) => ratio(ratioToReference)),
        column("samples", ({ samples }) => String(samples)),
      ],
      ({ size }) => [String(size)],
    ),
    "",
    "Time of each operation; for channels, of sending and receiving a value. A sample is the mean of a turn.",
  ];
}
