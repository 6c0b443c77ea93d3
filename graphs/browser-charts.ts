/** The chart of `browser`: what a call of a web worker takes, by contender. */
import {
  AT_ONCE,
  BARE,
  BYTES,
  COMLINK,
  CONTENDERS,
  MESSAGES,
  NUMBER,
  OBJECT,
  SHARED,
  WORKERPOOL,
} from "../benchmarks/scenarios/browser-cases.ts";
import { barChart, figureOf, type Results } from "./bar-chart.ts";
import { type ChartSpec, COLORS } from "./style.ts";

const BAR_COLORS: Readonly<Record<string, string | undefined>> = {
  [SHARED]: COLORS["heddle"],
  [MESSAGES]: COLORS["heddle (JSON text)"],
  [BARE]: COLORS["postMessage"],
  [COMLINK]: "#CC79A7",
  [WORKERPOOL]: COLORS["Piscina"],
};

const LABELS: Readonly<Record<string, string>> = {
  [NUMBER]: "number",
  [OBJECT]: "object of 200 B",
  [BYTES]: "64 KiB",
};

export function browserCharts(results: Results): ChartSpec[] {
  const places = Object.entries(AT_ONCE).flatMap(([kind, counts]) =>
    counts.map((size) => ({ kind, size }))
  );
  return barChart(results, {
    name: "browser-calls",
    heading: "A call of one web worker in Chromium (median)",
    xAxis: "argument and result, and calls at once",
    yAxis: "ns a call (logarithmic, lower is better)",
    isLogarithmic: true,
    groups: places.map(({ kind, size }) => [LABELS[kind]!, size === 1 ? "one" : `${size} at once`]),
    bars: CONTENDERS.map((contender) => ({
      label: contender,
      color: BAR_COLORS[contender],
      values: places.map(({ kind, size }) =>
        figureOf(
          results[0]!,
          "p50",
          (each) => each.contender === contender && each.case === kind && each.size === size,
        )
      ),
    })),
  });
}
