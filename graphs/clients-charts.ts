/** The chart of docs/programs.md, from the table of the page: time and processor time of each program on our packages. */
import type { Measurement, ScenarioResult } from "../benchmarks/harness/schema.ts";
import { ratioChart } from "./ratio-chart.ts";
import type { ChartSpec } from "./style.ts";

/** Columns of the table that are ratios, by the contender that they are in the chart. */
const FIGURES = { "time": 4, "processor time": 5 } as const;
const RATIO = /([\d.]+) \(([\d.]+)–([\d.]+)\)/;
/** Below the table, as `scripts/clients.ts` writes it. */
const NOTE = /_(\d+) pairs on Node v(\S+); (.+), (\d+) cores, (\d{4}-\d\d-\d\d)/;

type Paired = Pick<Measurement, "case" | "size" | "contender" | "paired">;

export function clientCharts(page: string): ChartSpec[] {
  const [, pairs = "", version = "", cpu = "", cores = "", date = ""] = NOTE.exec(page) ?? [];
  const measurements: Paired[] = page.split("\n").map((line) => line.split("|")).flatMap((cells) =>
    Object.entries(FIGURES).flatMap(([contender, column]) => {
      const [, ratio, low, high] = RATIO.exec(cells[column] ?? "") ?? [];
      if (ratio === undefined) return [];
      const paired = { to: "original", pairs: Number(pairs), ratio: Number(ratio) };
      return {
        case: cells[1]!.trim().replaceAll("`", ""),
        size: 1,
        contender,
        paired: { ...paired, low: Number(low), high: Number(high) },
      };
    })
  );
  const cases = new Set(measurements.map((each) => each.case));
  const result = {
    scenario: "clients",
    runtime: "node",
    version,
    date,
    machine: { cpu, cores: Number(cores) },
    measurements,
  } as unknown as ScenarioResult;
  return ratioChart(result, {
    name: "clients",
    heading: "Real programs with our package for their pool",
    to: "original",
    groups: [...cases].map((name) => ({ label: name.split(", "), case: name, size: 1 })),
    contenders: Object.keys(FIGURES),
  });
}
