/** The table of `nats`. */
import { column, ratio, rowTable } from "./row-table.ts";
import type { ScenarioResult } from "./schema.ts";

export function natsTable(result: ScenarioResult): string[] {
  return [
    ...rowTable(
      result,
      ["case", "contender", "at once, or machines"],
      [
        column("p50", ({ p50, unit }) => `${p50} ${unit}`),
        column("p99", ({ p99, unit }) => `${p99} ${unit}`),
        column("p50 × raw NATS", ({ ratioToBaseline }) => ratio(ratioToBaseline)),
        column("samples", ({ samples }) => String(samples)),
      ],
      ({ size }) => [String(size)],
    ),
    "",
    "Echoes: time for each call, the mean of a batch. With 100 at once it is the reciprocal of calls a second.",
  ];
}
