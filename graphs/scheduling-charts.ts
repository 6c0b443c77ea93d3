/** Bar charts of the scenarios about waiting and scheduling, all runtimes in each. */
import {
  BURST_CASE,
  BURST_SIZES,
  TIMER_CASE,
  TIMER_SIZES,
} from "../benchmarks/scenarios/burst-cases.ts";
import { AWAITING, IDLE } from "../benchmarks/scenarios/idle-cases.ts";
import {
  BESIDE_LONG,
  LAST_MICRO,
  LONG_LATENESS,
  LONG_TASK,
  MICRO_CASES,
} from "../benchmarks/scenarios/mixed-cases.ts";
import { barChart, byRuntime, figureOf, nameOf, type Results } from "./bar-chart.ts";
import { type ChartSpec, COLORS } from "./style.ts";

export function idleCostCharts(results: Results): ChartSpec[] {
  const charts = [
    { name: "idle-cost", case: IDLE, heading: "4 idle workers: processor time of the process" },
    {
      name: "idle-cost-awaiting",
      case: AWAITING,
      heading: "Host awaiting tasks of 100 ms: processor time of its thread",
    },
  ];
  return charts.flatMap((chart) =>
    barChart(results, {
      name: chart.name,
      heading: chart.heading,
      xAxis: "runtime",
      yAxis: "% of a core, mean (lower is better)",
      groups: results.map(nameOf),
      bars: ["heddle", "raw worker", "no workers"].map((contender) => ({
        label: contender,
        color: COLORS[contender],
        values: results.map((result) =>
          figureOf(
            result,
            "mean",
            (each) => each.contender === contender && each.case === chart.case,
          )
        ),
      })),
    })
  );
}

export function burstCharts(results: Results): ChartSpec[] {
  const calls = results.flatMap((result) => BURST_SIZES.map((size) => ({ result, size })));
  const ticks = results.flatMap((result) => TIMER_SIZES.map((size) => ({ result, size })));
  const charts = [
    {
      name: "burst",
      heading: "f64 echoes at once, one worker: time a call (p50)",
      yAxis: "µs a call (lower is better)",
      field: "perCall",
      case: BURST_CASE,
      places: calls,
    },
    {
      name: "burst-timers",
      heading: "A 1 ms timer of the host meanwhile: how late it is (p99)",
      yAxis: "µs late (logarithmic, lower is better)",
      field: "p99",
      case: TIMER_CASE,
      places: ticks,
    },
  ] as const;
  return charts.flatMap(({ name, heading, yAxis, field, case: measured, places }) =>
    barChart(results, {
      name,
      heading,
      xAxis: "calls at once",
      yAxis,
      isLogarithmic: field === "p99",
      groups: places.map(({ result, size }) => [
        size === 1 ? "one by one" : size.toLocaleString("en"),
        nameOf(result),
      ]),
      bars: ["heddle", "Knitting", "postMessage"].map((contender) => ({
        label: contender,
        color: COLORS[contender],
        values: places.map(({ result, size }) =>
          figureOf(
            result,
            field,
            (each) => each.contender === contender && each.case === measured && each.size === size,
          )
        ),
      })),
    })
  );
}

const MIXED_BATCHES = [1, 100] as const;
const batchLabel = (size: number): string => size === 1 ? "one at a time" : `${size} at once`;

export function mixedLoadCharts(results: Results): ChartSpec[] {
  const micro = MICRO_CASES.flatMap((name) => MIXED_BATCHES.map((size) => ({ name, size })));
  const microGroups = micro.map(({ name, size }) => `${name}, ${batchLabel(size)}`);
  const latenessGroups = MIXED_BATCHES.map((size) => `micro-tasks ${batchLabel(size)}`);
  const burstCases = [LAST_MICRO, LONG_TASK];
  return [
    ...barChart(results, {
      name: "mixed-load",
      heading: "Micro-tasks beside 100 ms tasks, 2 workers: time against that alone (p50)",
      xAxis: "micro-tasks",
      yAxis: "× alone (logarithmic, lower is better)",
      isLogarithmic: true,
      groups: microGroups,
      bars: byRuntime(results, microGroups, (result, group) => {
        const { name, size } = micro[group]!;
        return figureOf(
          result,
          "ratioToBaseline",
          (each) => each.contender === BESIDE_LONG && each.case === name && each.size === size,
        );
      }),
      line: { label: "as alone", value: 1 },
    }),
    ...barChart(results, {
      name: "mixed-load-lateness",
      heading: "Lateness of 100 ms tasks while micro-tasks are called, 2 workers (p50)",
      xAxis: "meanwhile",
      yAxis: "lateness, µs (lower is better)",
      groups: latenessGroups,
      bars: byRuntime(results, latenessGroups, (result, group) =>
        figureOf(
          result,
          "p50",
          (each) => each.case === LONG_LATENESS && each.size === MIXED_BATCHES[group],
        )),
    }),
    ...barChart(results, {
      name: "mixed-load-burst",
      heading: "1,000 micro-tasks called after a task of 200 ms, 2 workers (p50)",
      xAxis: "answer",
      yAxis: "ms until answered (logarithmic, lower is better)",
      isLogarithmic: true,
      groups: burstCases,
      bars: byRuntime(
        results,
        burstCases,
        (result, group) => figureOf(result, "p50", (each) => each.case === burstCases[group]),
      ),
    }),
  ];
}

export function fanOutCharts(results: Results): ChartSpec[] {
  const measured = results.flatMap(({ measurements }) => measurements);
  const cases = [...new Set(results.flatMap(({ cases = [] }) => cases))];
  const workers = [...new Set(measured.map(({ size }) => size))].sort((a, b) => a - b);
  const groups = cases.flatMap((name) => workers.map((size) => ({ name, size })));
  const labels = groups.map(({ name, size }) => [name, `${size} worker${size === 1 ? "" : "s"}`]);
  return barChart(results, {
    name: "fan-out",
    heading: "Tasks called at once: wall time over their own time divided among the workers (p50)",
    xAxis: "tasks and workers",
    yAxis: "× ideal (lower is better)",
    groups: labels,
    bars: byRuntime(results, labels, (result, group) => {
      const { name, size } = groups[group]!;
      return figureOf(
        result,
        "ratioToIdeal",
        (each) => each.case === name && each.size === size,
      );
    }),
    line: { label: "ideal", value: 1 },
  });
}
