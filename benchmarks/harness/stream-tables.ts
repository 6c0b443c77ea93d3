/** The table of `streams`. */
import { column, ratio, rowTable } from "./row-table.ts";
import type { ScenarioResult } from "./schema.ts";

export function streamsTable(result: ScenarioResult): string[] {
  return [
    ...rowTable(
      result,
      ["case", "contender", ""],
      [
        column("p50", ({ p50, unit }) => `${p50} ${unit}`),
        column("min", ({ min, unit }) => `${min} ${unit}`),
        column("p50 × postMessage", ({ ratioToBaseline }) => ratio(ratioToBaseline)),
        column("p50 × calls", ({ ratioToReference }) => ratio(ratioToReference)),
        column("samples", ({ samples }) => String(samples)),
      ],
      ({ size, case: name }) => [name.startsWith("memory") ? String(size) : ""],
    ),
    "",
    "Time for each item, from the first call to the last item.",
  ];
}
