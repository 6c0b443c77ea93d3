/** Charts of `concurrency`: wall time and peak memory by contender and number of tasks, and processor use when tasks compute. */
import {
  caseOf,
  COMPUTING,
  PEAK,
  PROCESSOR,
  TASK_COUNTS,
  WALL,
} from "../benchmarks/scenarios/concurrency-cases.ts";
import { type BarChart, barChart, type Bars, figureOf, type Results } from "./bar-chart.ts";
import { type ChartSpec, COLORS } from "./style.ts";

interface Group {
  readonly result: Results[number];
  readonly contender: string;
}

/** Every contender of every runtime, also those without a figure. */
const groupsOf = (results: Results): Group[] =>
  results.flatMap((result) => {
    const names = [...result.measurements, ...result.failures].map(({ contender }) => contender);
    return [...new Set(names)].map((contender) => ({ result, contender }));
  });

/** Lines below a group of bars; programs in other languages name theirs. */
const labelOf = ({ result: { runtime }, contender }: Group): string[] => {
  const words = contender.split(" ");
  const middle = Math.ceil(words.length / 2);
  const lines = [words.slice(0, middle).join(" "), words.slice(middle).join(" ")];
  return runtime === "native" ? lines : [...lines, runtime];
};

const barsOf = (
  groups: readonly Group[],
  label: string,
  color: string | undefined,
  name: string,
  size?: number,
): Bars => ({
  label,
  color,
  values: groups.map(({ result, contender }) =>
    figureOf(
      result,
      "p50",
      (each) =>
        each.contender === contender && each.case === name &&
        (size === undefined || each.size === size),
    )
  ),
});

const SIZE_COLORS = [COLORS["bun"], COLORS["node"], COLORS["deno"]];

export function concurrencyCharts(results: Results): ChartSpec[] {
  const groups = groupsOf(results);
  const bySize = (name: string): Bars[] =>
    TASK_COUNTS.map((size, index) =>
      barsOf(groups, `${size} tasks`, SIZE_COLORS[index], name, size)
    );
  const shared: Pick<BarChart, "groups" | "xAxis"> = {
    groups: groups.map(labelOf),
    xAxis: "all tasks at once, five requests each",
  };
  const { cores } = results[0]!.machine;
  return [
    ...barChart(results, {
      ...shared,
      name: "concurrency-wall",
      heading: "Tasks that wait for a server: wall time (median)",
      yAxis: "s (logarithmic, lower is better)",
      isLogarithmic: true,
      bars: bySize(WALL),
    }),
    ...barChart(results, {
      ...shared,
      name: "concurrency-memory",
      heading: "Tasks that wait for a server: peak resident memory of the process (median)",
      yAxis: "MiB (logarithmic, lower is better)",
      isLogarithmic: true,
      bars: bySize(PEAK),
    }),
    ...barChart(results, {
      ...shared,
      name: "concurrency-processor",
      heading: "Tasks that compute after each response: processor use (median)",
      yAxis: "% of a core, start of threads included",
      bars: [barsOf(groups, "processor use", COLORS["heddle"], caseOf(COMPUTING, PROCESSOR))],
      line: { label: "all cores", value: 100 * cores },
    }),
  ];
}
