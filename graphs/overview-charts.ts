/** The chart of the first page: hot, sporadic and cold calls side by side, a chart for each runtime. */
import { caseOf, FIRST_ANSWER } from "../benchmarks/scenarios/cold-cases.ts";
import type { ScenarioResult } from "../benchmarks/harness/schema.ts";
import { EVERY } from "../benchmarks/scenarios/sporadic-cases.ts";
import { barChart, nameOf } from "./bar-chart.ts";
import { type ChartSpec, COLORS, type Figure } from "./style.ts";

export const CONTENDERS = ["heddle", "bare worker", "Piscina", "Tinypool", "Knitting"] as const;
export type Contender = typeof CONTENDERS[number];

/** Kind of traffic and what is called. */
export const GROUPS = [
  ["hot", "one small object"],
  ["hot", "100 objects at once"],
  ["sporadic", "one number every 10 ms"],
  ["cold", "start until the first answer"],
] as const;

const PAUSE_US = 10_000;
const MICROSECONDS: Readonly<Record<string, number>> = { "µs": 1, "ms": 1000 };

export interface OverviewResults {
  readonly ipc: ScenarioResult;
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
  { ipc, sporadic, cold }: OverviewResults,
  contender: Contender,
): (Figure | null)[] {
  // The scenario of messages has a bare worker under the name of what it calls.
  const hot = contender === "bare worker" ? "postMessage" : contender;
  return [
    figureOf(ipc, hot, "message", 1),
    figureOf(ipc, hot, "message", 100),
    figureOf(sporadic, contender, EVERY, PAUSE_US),
    figureOf(cold, contender, caseOf(FIRST_ANSWER, "object, 200 B"), 1),
  ];
}

export function overviewChart(results: OverviewResults): ChartSpec[] {
  const { ipc } = results;
  return barChart([ipc], {
    name: `overview-${ipc.runtime}`,
    heading: `Hot, sporadic and cold calls on ${nameOf(ipc)} (median)`,
    xAxis: "one worker that returns its argument",
    yAxis: "µs (logarithmic, lower is better)",
    isLogarithmic: true,
    groups: GROUPS,
    bars: CONTENDERS.map((contender) => ({
      label: contender,
      color: COLORS[contender],
      values: valuesOf(results, contender),
    })),
  }).map((spec) => ({ ...spec, scenario: "overview" }));
}
