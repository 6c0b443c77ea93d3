/** Charts of `cold`: what a program waits for that has just started, its first calls, and its memory. */
import type { ScenarioResult } from "../benchmarks/harness/schema.ts";
import {
  caseOf,
  type ColdKind,
  FIRST_ANSWER,
  IMPORT,
  MEMORY,
  STEPS,
  WEB_WORKER,
} from "../benchmarks/scenarios/cold-cases.ts";
import { ADAPTER } from "../benchmarks/scenarios/hot-cases.ts";
import {
  type BarChart,
  barChart,
  type Bars,
  byRuntime,
  figureOf,
  nameOf,
  type Results,
} from "./bar-chart.ts";
import { ratioChart } from "./ratio-chart.ts";
import { type ChartSpec, COLORS } from "./style.ts";

export const CONTENDERS = [
  "heddle",
  "bare worker",
  WEB_WORKER,
  "Piscina",
  "Tinypool",
  ADAPTER,
  "Knitting",
] as const;

/** Not all runtimes have all of them. */
const contendersOf = ({ measurements }: ScenarioResult): readonly (typeof CONTENDERS)[number][] =>
  CONTENDERS.filter((name) => measurements.some(({ contender }) => contender === name));

const KINDS: readonly ColdKind[] = ["number", "object, 200 B"];

/** A bar for each contender: the median of each case. */
const barsOf = (result: ScenarioResult, cases: readonly string[]): Bars[] =>
  contendersOf(result).map((contender) => ({
    label: contender,
    color: COLORS[contender],
    values: cases.map((name) =>
      figureOf(result, "p50", (each) => each.contender === contender && each.case === name)
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
    bars: barsOf(result, cases),
  };
}

/** What follows the start, against a bare worker in the neighbouring process. */
const callsChart = (result: ScenarioResult): ChartSpec[] =>
  ratioChart(result, {
    name: `cold-calls-${result.runtime}`,
    heading: "A program that has just started, in fresh processes in turn",
    to: "bare worker",
    groups: KINDS.flatMap((kind) =>
      STEPS.map((step) => ({ label: [step, kind], case: caseOf(step, kind), size: 1 }))
    ),
    contenders: CONTENDERS.filter((name) => name !== "bare worker"),
  });

export function coldCharts(results: Results): ChartSpec[] {
  return [
    ...results.flatMap((result) => [
      ...barChart([result], startChart(result)),
      ...callsChart(result),
    ]),
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
