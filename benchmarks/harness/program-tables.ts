/** The table of `programs`. */
import { column, ratio, rowTable } from "./row-table.ts";
import type { ScenarioResult } from "./schema.ts";

export function programsTable(result: ScenarioResult): string[] {
  return [
    ...rowTable(
      result,
      ["", "contender", "size"],
      [
        column("best", ({ min, unit }) => `${min} ${unit}`),
        column("median", ({ p50, unit }) => `${p50} ${unit}`),
        column("median × C", ({ ratioToBaseline }) => ratio(ratioToBaseline)),
        column("samples", ({ samples }) => String(samples)),
      ],
      ({ size }) => [String(size)],
    ),
    "",
    "Size: argument of the program; workers; messages in flight. Seconds, processor time and peak memory are of whole",
    "processes. Source: bytes in gzip. Utilisation: a sample for each worker; best is the lowest.",
  ];
}
