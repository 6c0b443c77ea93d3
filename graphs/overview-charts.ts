/** The chart of the first page: hot, sporadic and cold calls side by side, a chart for each runtime. */
import { caseOf, FIRST_ANSWER } from "../benchmarks/scenarios/cold-cases.ts";
import type { ScenarioResult } from "../benchmarks/harness/schema.ts";
import { OBJECT } from "../benchmarks/scenarios/hot-cases.ts";
import { EVERY } from "../benchmarks/scenarios/sporadic-cases.ts";
import { barChart, nameOf } from "./bar-chart.ts";
import { type ChartSpec, COLORS, type Figure } from "./style.ts";

export const CONTENDERS = ["heddle", "bare worker", "Piscina", "Tinypool", "Knitting"] as const;
export type Contender = typeof CONTENDERS[number];

/** Kind of traffic and what is called, in two lines and in one. */
export const GROUPS = [
  { lines: ["hot", "one small object"], short: "one object, hot" },
  { lines: ["hot", "100 objects at once"], short: "100 objects, hot" },
  { lines: ["with pauses", "one number every 10 ms"], short: "a number every 10 ms" },
  { lines: ["cold", "start until the first answer"], short: "first answer, cold" },
] as const;

const PAUSE_US = 10_000;
const MICROSECONDS: Readonly<Record<string, number>> = { "µs": 1, "ms": 1000 };

export interface OverviewResults {
  readonly hot: ScenarioResult;
  readonly sporadic: ScenarioResult;
  readonly cold: ScenarioResult;
}

function figureOf(
  { measurements }: ScenarioResult,
  contender: string,
  name: string,
  size: number,
): Figure | null {
  const found = measurements.find((each) =>
    each.contender === contender && each.case === name && each.size === size
  );
  if (found === undefined) return null;
  return { value: found.p50 * MICROSECONDS[found.unit]!, samples: found.samples };
}

/** A figure in µs for each of `GROUPS`; null where there is none. */
export function valuesOf(
  { hot, sporadic, cold }: OverviewResults,
  contender: Contender,
): (Figure | null)[] {
  return [
    figureOf(hot, contender, OBJECT, 1),
    figureOf(hot, contender, OBJECT, 100),
    figureOf(sporadic, contender, EVERY, PAUSE_US),
    figureOf(cold, contender, caseOf(FIRST_ANSWER, "object, 200 B"), 1),
  ];
}

export function overviewChart(results: OverviewResults): ChartSpec[] {
  const { hot } = results;
  return barChart([hot], {
    name: `overview-${hot.runtime}`,
    heading: `Hot, sporadic and cold calls on ${nameOf(hot)} (median)`,
    xAxis: "one worker that returns its argument",
    yAxis: "µs (logarithmic, lower is better)",
    isLogarithmic: true,
    groups: GROUPS.map(({ lines }) => lines),
    bars: CONTENDERS.map((contender) => ({
      label: contender,
      color: COLORS[contender],
      values: valuesOf(results, contender),
    })),
  }).map((spec) => ({ ...spec, scenario: "overview" }));
}
