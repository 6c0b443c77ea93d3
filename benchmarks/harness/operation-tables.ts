/** Tables of what a program meets beside its calls: `cold` and `soak`. */
import { pairedColumn } from "./paired-tables.ts";
import { column, rowTable } from "./row-table.ts";
import type { Measurement, ScenarioResult } from "./schema.ts";

const figure = (name: "p50" | "p99" | "mean" | "min") =>
  column(name, (measurement: Measurement) => `${measurement[name]} ${measurement.unit}`);

export function coldTable(result: ScenarioResult): string[] {
  return [
    ...rowTable(
      result,
      ["", "contender"],
      [
        ...(["p50", "mean", "p99", "min"] as const).map(figure),
        column("p50 per call", ({ perCall }) => perCall === undefined ? "–" : `${perCall} µs`),
        column("processes", ({ samples }) => String(samples)),
        pairedColumn("bare worker"),
        column("mean − bare worker", ({ overBaseline }) => String(overBaseline ?? "–")),
      ],
      () => [],
    ),
    "",
    "Each once in a fresh process. First answer: from just before the worker is created. Many calls: 20 at once.",
  ];
}

export function soakTable(result: ScenarioResult): string[] {
  return rowTable(
    result,
    ["", "contender", "minute"],
    [figure("p50"), figure("p99"), figure("mean")],
    ({ size }) => [String(size)],
  );
}
