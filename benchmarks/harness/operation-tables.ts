/** Tables of what a program meets beside its calls: `startup` and `soak`. */
import { column, ratio, rowTable } from "./row-table.ts";
import type { Measurement, ScenarioResult } from "./schema.ts";

const figure = (name: "p50" | "p99" | "mean" | "min") =>
  column(name, (measurement: Measurement) => `${measurement[name]} ${measurement.unit}`);

export function startupTable(result: ScenarioResult): string[] {
  const processes = column("processes", ({ samples }) => String(samples));
  const timesRaw = column("× raw worker", ({ ratioToBaseline }) => ratio(ratioToBaseline));
  return [
    ...rowTable(
      result,
      ["", "contender"],
      [figure("p50"), figure("min"), processes, timesRaw],
      () => [],
    ),
    "",
    "Each once in a fresh process. Memory: growth of the resident set with each of several workers.",
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
