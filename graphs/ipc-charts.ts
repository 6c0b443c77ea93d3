/** Charts of the `ipc` scenario: all runtimes in one, a chart for one message and one for a hundred at once. */
import type { ScenarioResult } from "../benchmarks/harness/schema.ts";
import { type ChartSpec, COLORS, decades, describe, DOTS, frame, title, toBars } from "./style.ts";

const SIZES = [1, 100] as const;
const GROUP_PIXELS = 30;
/** Titles, axis and legend. */
const FRAME_PIXELS = 190;

export function ipcCharts(results: readonly ScenarioResult[]): ChartSpec[] {
  return SIZES.map((size) => ipcChart(results, size)).filter(({ config }) =>
    (config["data"] as { labels: readonly string[] }).labels.length > 0
  );
}

function ipcChart(results: readonly ScenarioResult[], size: number): ChartSpec {
  const all = results.flatMap(({ measurements }) =>
    measurements.filter((each) => each.size === size)
  );
  const median = (contender: string): number =>
    Math.min(...all.filter((each) => each.contender === contender).map(({ p50 }) => p50));
  const contenders = [...new Set(all.map(({ contender }) => contender))]
    .sort((a, b) => median(a) - median(b));
  const datasets = results.map(({ runtime, version, measurements }) => ({
    label: `${runtime} ${version}`,
    ...toBars(contenders.map((contender) => {
      const found = measurements.find((each) => each.contender === contender && each.size === size);
      return found === undefined ? null : { value: found.p50, samples: found.samples };
    })),
    backgroundColor: COLORS[runtime],
    ...DOTS,
  }));
  const first = Math.floor(Math.log10(Math.min(...all.map(({ p50 }) => p50)) / 1.5));
  const last = Math.ceil(Math.log10(Math.max(...all.map(({ p50 }) => p50))));
  const what = size === 1 ? "One small message" : `${size} small messages at once`;
  return {
    scenario: "ipc",
    name: `ipc-${size}`,
    caption: describe(results[0]!),
    height: FRAME_PIXELS + contenders.length * GROUP_PIXELS,
    config: {
      type: "line",
      data: { labels: contenders, datasets },
      options: {
        indexAxis: "y",
        ...frame(`${what} to a worker and back (p50)`, describe(results[0]!)),
        scales: {
          x: {
            type: "logarithmic",
            min: 10 ** first,
            max: 10 ** last,
            title: title("µs (logarithmic, lower is better)", 13),
            fixedTicks: decades(first, last),
          },
          y: { ticks: { autoSkip: false } },
        },
      },
    },
  };
}
