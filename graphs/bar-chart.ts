/** Vertical bars, on a logarithmic axis dots: what the charts of several scenarios share. */
import type { Measurement, ScenarioResult } from "../benchmarks/harness/schema.ts";
import {
  type ChartSpec,
  COLORS,
  decades,
  describe,
  DOTS,
  type Figure,
  frame,
  title,
  toBars,
} from "./style.ts";

export interface Bars {
  readonly label: string;
  readonly color: string | undefined;
  /** One for each group; null where there is no figure. */
  readonly values: readonly (Figure | null)[];
}

export interface BarChart {
  readonly name: string;
  readonly heading: string;
  readonly xAxis: string;
  readonly yAxis: string;
  /** A label of several lines is an array of them. */
  readonly groups: readonly (string | readonly string[])[];
  readonly bars: readonly Bars[];
  /** A dashed line across, such as where nothing is lost. */
  readonly line?: { readonly label: string; readonly value: number };
  readonly isLogarithmic?: boolean;
}

export type Results = readonly ScenarioResult[];

export function barChart(results: Results, chart: BarChart): ChartSpec[] {
  if (chart.bars.every(({ values }) => values.every((value) => value === null))) return [];
  const { groups, bars, line, isLogarithmic = false } = chart;
  const datasets: Record<string, unknown>[] = bars.map(({ label, color, values }) => ({
    label,
    ...toBars(values),
    backgroundColor: color,
    order: 1,
    ...(isLogarithmic ? DOTS : {}),
  }));
  if (line !== undefined) {
    datasets.push({
      type: "line",
      label: line.label,
      data: groups.map(() => line.value),
      borderColor: "#666666",
      // The box in the legend.
      backgroundColor: "transparent",
      borderDash: [6, 4],
      borderWidth: 2,
      pointRadius: 0,
      order: 0,
    });
  }
  const caption = describe(results[0]!);
  return [{
    scenario: results[0]!.scenario,
    ...(results.length === 1 ? { runtime: results[0]!.runtime } : {}),
    name: chart.name,
    caption,
    config: {
      type: isLogarithmic ? "line" : "bar",
      data: { labels: groups, datasets },
      options: {
        ...frame(chart.heading, caption),
        scales: {
          x: {
            title: title(chart.xAxis, 13),
            ticks: { autoSkip: false, maxRotation: 0 },
            offset: true,
          },
          y: { ...valueAxis(chart), title: title(chart.yAxis, 13) },
        },
      },
    },
  }];
}

/** From zero, or over whole powers of ten with the bottom below the smallest value. */
function valueAxis({ bars, line, isLogarithmic = false }: BarChart): Record<string, unknown> {
  if (!isLogarithmic) return { beginAtZero: true };
  const values = bars.flatMap(({ values }) => values)
    .filter((figure) => figure !== null).map(({ value }) => value);
  if (line !== undefined) values.push(line.value);
  const first = Math.floor(Math.log10(Math.min(...values) / 1.5));
  const last = Math.ceil(Math.log10(Math.max(...values)));
  return {
    type: "logarithmic",
    min: 10 ** first,
    max: 10 ** last,
    fixedTicks: decades(first, last),
  };
}

export const nameOf = ({ runtime, version }: ScenarioResult): string => `${runtime} ${version}`;

/** A figure of the measurement that fits, if there is one. */
export function figureOf(
  { measurements }: ScenarioResult,
  figure: "p50" | "p99" | "mean" | "perCall" | "ratioToBaseline" | "ratioToIdeal",
  fits: (measurement: Measurement) => boolean,
): Figure | null {
  const found = measurements.find(fits);
  const value = found?.[figure];
  return found === undefined || value === undefined ? null : { value, samples: found.samples };
}

/** Bars for every runtime: `value` by number of the group. */
export const byRuntime = (
  results: Results,
  groups: BarChart["groups"],
  value: (result: ScenarioResult, group: number) => Figure | null,
): Bars[] =>
  results.map((result) => ({
    label: nameOf(result),
    color: COLORS[result.runtime],
    values: groups.map((_, group) => value(result, group)),
  }));
