/** The table of `browser`. */
import { column, ratio, rowTable } from "./row-table.ts";
import type { ScenarioResult } from "./schema.ts";

export function browserTable(result: ScenarioResult): string[] {
  return [
    ...rowTable(
      result,
      ["case", "contender", "calls at once"],
      [
        column("p50", ({ p50, unit }) => `${p50} ${unit}`),
        column("p99", ({ p99, unit }) => `${p99} ${unit}`),
        column("p50 × bare worker", ({ ratioToBaseline }) => ratio(ratioToBaseline)),
        column("samples", ({ samples }) => String(samples)),
      ],
      ({ size }) => [String(size)],
    ),
    "",
    "Time of a call, or of a new worker until its first result. A sample is the mean of a block of calls.",
  ];
}
