/** Charts of the payload scenarios: `types`, `payload-growth` and `codec`. */
import type { Measurement, ScenarioResult } from "../benchmarks/harness/schema.ts";
import { formatBytes } from "../benchmarks/harness/units.ts";
import { ratioChart } from "./ratio-chart.ts";
import {
  type ChartSpec,
  COLORS,
  decades,
  decadeScale,
  describe,
  DOTS,
  frame,
  LINE_SAMPLES,
  title,
  toBars,
  toLine,
} from "./style.ts";

const CASE_PIXELS = 24;
/** Titles, axis and legend. */
const FRAME_PIXELS = 190;

interface DotChart {
  readonly name: string;
  readonly heading: string;
  readonly axis: string;
  readonly contenders: readonly string[];
}

/** Dots of p50 beside the cases, on a logarithmic axis. */
function dotChart(
  result: ScenarioResult,
  measurements: readonly Measurement[],
  { name, heading, axis, contenders }: DotChart,
): ChartSpec {
  const cases = (result.cases ?? []).filter((name) =>
    measurements.some((each) => each.case === name)
  );
  const p50Of = (contender: string, label: string) => {
    const found = measurements.find((each) => each.contender === contender && each.case === label);
    return found === undefined ? null : { value: found.p50, samples: found.samples };
  };
  const datasets = contenders.map((contender) => ({
    label: measurements.some((each) => each.contender === contender)
      ? contender
      : `${contender} (not measured)`,
    ...toBars(cases.map((label) => p50Of(contender, label))),
    backgroundColor: COLORS[contender],
    ...DOTS,
  }));
  const smallest = Math.min(...measurements.map(({ p50 }) => p50));
  const largest = Math.max(...measurements.map(({ p50 }) => p50));
  const first = Math.floor(Math.log10(smallest / 1.5));
  const last = Math.ceil(Math.log10(largest));
  return {
    scenario: result.scenario,
    runtime: result.runtime,
    name: `${name}-${result.runtime}`,
    caption: describe(result),
    height: FRAME_PIXELS + cases.length * CASE_PIXELS,
    config: {
      type: "line",
      data: { labels: cases, datasets },
      options: {
        indexAxis: "y",
        ...frame(`${heading} on ${result.runtime} ${result.version} (p50)`, describe(result)),
        scales: {
          x: {
            type: "logarithmic",
            min: 10 ** first,
            max: 10 ** last,
            title: title(`${axis} (logarithmic, lower is better)`, 13),
            fixedTicks: decades(first, last),
          },
          y: { ticks: { autoSkip: false } },
        },
      },
    },
  };
}

/** One chart per batch: every kind of payload. */
export function typesCharts(result: ScenarioResult): ChartSpec[] {
  return [1, 100].map((batch) => {
    const measurements = result.measurements.filter(({ size }) => size === batch);
    return dotChart(result, measurements, {
      name: `types-${batch}`,
      heading: batch === 1 ? "One call there and back" : `${batch} calls at once there and back`,
      axis: batch === 1 ? "µs per call" : `µs per batch of ${batch}`,
      contenders: ["heddle", "Knitting", "heddle (JSON text)", "postMessage"],
    });
  }).filter(({ config }) => hasData(config));
}

export const codecCharts = (result: ScenarioResult): ChartSpec[] =>
  ratioChart(result, {
    name: `codec-${result.runtime}`,
    heading: "A value written and read in one thread",
    to: "structuredClone",
    groups: (result.cases ?? []).map((name) => ({ label: name, case: name, size: 1 })),
    contenders: ["heddle codec", "JSON", "node:v8", "msgpackr"],
  });

const hasData = (config: ChartSpec["config"]): boolean =>
  (config["data"] as { labels: readonly string[] }).labels.length > 0;

/** One chart per kind of payload: throughput over size, a line per contender and batch. */
export function payloadGrowthCharts(result: ScenarioResult): ChartSpec[] {
  const kinds = [...new Set(result.measurements.map((each) => each.case.split(", ")[0]!))];
  return kinds.map((kind) => {
    const measurements = result.measurements.filter((each) => each.case.startsWith(`${kind}, `));
    const lines = [...new Map(measurements.map((each) => [lineOf(each), each]))];
    const datasets = lines.map(([line, { contender, calls }]) => ({
      label: line,
      ...toLine(
        measurements.filter((each) => lineOf(each) === line),
        ({ gigabytesPerSecond = 0 }) => gigabytesPerSecond,
      ),
      borderColor: COLORS[contender],
      backgroundColor: COLORS[contender],
      borderWidth: contender === "heddle" ? 3 : 2,
      borderDash: calls === 1 ? [6, 4] : [],
      pointRadius: 4,
    }));
    const sizes = [...new Set(measurements.map(({ size }) => size))].sort((a, b) => a - b);
    const speeds = measurements.map(({ gigabytesPerSecond = 0 }) => gigabytesPerSecond);
    return {
      scenario: "payload-growth",
      runtime: result.runtime,
      name: `payload-growth-${result.runtime}-${kind}`,
      caption: describe(result),
      config: {
        type: "line",
        data: { datasets },
        options: {
          ...frame(
            `${kind} echoed on ${result.runtime} ${result.version}: throughput one way (p50)`,
            describe(result),
            LINE_SAMPLES,
          ),
          scales: {
            x: {
              type: "logarithmic",
              min: sizes[0]! * 0.8,
              max: sizes.at(-1)! * 1.25,
              title: title("size of the payload (logarithmic)", 13),
              fixedTicks: sizes.map((value) => ({ value, label: formatBytes(value) })),
            },
            y: decadeScale(speeds, "GB/s (logarithmic, higher is better)"),
          },
        },
      },
    };
  });
}

const lineOf = ({ contender, case: name }: Measurement): string =>
  `${contender}, ${name.split(", ")[1]}`;
