/** Charts of `cold`: what a program waits for that has just started, its first calls, and its memory. */
import type { ScenarioResult } from "../benchmarks/harness/schema.ts";
import {
  caseOf,
  type ColdKind,
  FIRST_ANSWER,
  FIRST_CALLS,
  IMPORT,
  MEMORY,
  NEXT_CALLS,
  SECOND_CALL,
  THIRD_CALL,
  WEB_WORKER,
} from "../benchmarks/scenarios/cold-cases.ts";
import {
  type BarChart,
  barChart,
  type Bars,
  byRuntime,
  figureOf,
  nameOf,
  type Results,
} from "./bar-chart.ts";
import { type ChartSpec, COLORS } from "./style.ts";

export const CONTENDERS = [
  "heddle",
  "bare worker",
  WEB_WORKER,
  "Piscina",
  "Tinypool",
  "Knitting",
] as const;

/** Not all runtimes have all of them. */
const contendersOf = ({ measurements }: ScenarioResult): readonly (typeof CONTENDERS)[number][] =>
  CONTENDERS.filter((name) => measurements.some(({ contender }) => contender === name));

const KINDS: readonly ColdKind[] = ["number", "object, 200 B"];

type Figure = "p50" | "perCall";

/** A bar for each contender: the figure of each case. */
const barsOf = (result: ScenarioResult, cases: readonly string[], figure: Figure): Bars[] =>
  contendersOf(result).map((contender) => ({
    label: contender,
    color: COLORS[contender],
    values: cases.map((name) =>
      figureOf(result, figure, (each) => each.contender === contender && each.case === name)
    ),
  }));

function startChart(result: ScenarioResult): BarChart {
  const cases = [IMPORT, ...KINDS.map((kind) => caseOf(FIRST_ANSWER, kind))];
  return {
    name: `cold-${result.runtime}`,
    heading: `A program that has just started, on ${nameOf(result)} (median)`,
    xAxis: "once in a fresh process",
    yAxis: "ms (lower is better)",
    groups: cases,
    bars: barsOf(result, cases, "p50"),
  };
}

/** Single calls are of one call, so they are per call as well. */
function callsChart(result: ScenarioResult): BarChart {
  const single = [SECOND_CALL, THIRD_CALL];
  const places = KINDS.flatMap((kind) =>
    [...single, FIRST_CALLS, NEXT_CALLS].map((step) => ({ step, kind }))
  );
  return {
    name: `cold-calls-${result.runtime}`,
    heading: `The first calls of a program, on ${nameOf(result)} (median)`,
    xAxis: "once in a fresh process; many calls: 20 at once",
    yAxis: "µs a call (logarithmic, lower is better)",
    isLogarithmic: true,
    groups: places.map(({ step, kind }) => [step, kind]),
    bars: contendersOf(result).map((contender) => ({
      label: contender,
      color: COLORS[contender],
      values: places.map(({ step, kind }) =>
        figureOf(
          result,
          single.includes(step) ? "p50" : "perCall",
          (each) => each.contender === contender && each.case === caseOf(step, kind),
        )
      ),
    })),
  };
}

export function coldCharts(results: Results): ChartSpec[] {
  return [
    ...results.flatMap((result) =>
      [startChart(result), callsChart(result)].flatMap((chart) => barChart([result], chart))
    ),
    ...barChart(results, {
      name: "memory",
      heading: "Resident memory of a process with one worker, after three answers (median)",
      xAxis: "contender",
      yAxis: "MiB (lower is better)",
      groups: CONTENDERS,
      bars: byRuntime(results, CONTENDERS, (result, group) =>
        figureOf(
          result,
          "p50",
          (each) => each.contender === CONTENDERS[group] && each.case === MEMORY,
        )),
    }),
  ];
}
