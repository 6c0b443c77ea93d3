/** Line charts of the scenarios about waiting, one per runtime: `lateness` and `thread-sweep`. */
import type { Measurement, ScenarioResult } from "../benchmarks/harness/schema.ts";
import { formatUs } from "../benchmarks/harness/units.ts";
import {
  type ChartSpec,
  COLORS,
  decadeScale,
  describe,
  frame,
  LINE_SAMPLES,
  title,
  toLine,
} from "./style.ts";

type Figure = "p50" | "p99" | "mean";

interface Line {
  readonly label: string;
  readonly color: string | undefined;
  readonly measurements: readonly Measurement[];
  readonly figure: Figure;
  readonly isDashed: boolean;
}

export interface LineChart {
  readonly name: string;
  readonly heading: string;
  readonly xAxis: string;
  readonly yAxis: string;
  readonly xLabel: (size: number) => string;
  readonly lines: readonly Line[];
}

/** Lines over `size`; both axes are logarithmic. */
export function lineChart(result: ScenarioResult, chart: LineChart): ChartSpec[] {
  const lines = chart.lines.map(({ label, color, measurements, figure, isDashed }) => ({
    label: measurements.length === 0 ? `${label} (not measured)` : label,
    ...toLine(measurements, (each) => each[figure]),
    borderColor: color,
    backgroundColor: color,
    borderWidth: isDashed ? 2 : 3,
    borderDash: isDashed ? [6, 4] : [],
    pointRadius: 4,
  }));
  const points = lines.flatMap(({ data }) => data);
  if (points.length === 0) return [];
  const sizes = [...new Set(points.map(({ x }) => x))].sort((a, b) => a - b);
  return [{
    scenario: result.scenario,
    runtime: result.runtime,
    name: `${chart.name}-${result.runtime}`,
    caption: describe(result),
    config: {
      type: "line",
      data: { datasets: lines },
      options: {
        ...frame(
          `${chart.heading} on ${result.runtime} ${result.version}`,
          describe(result),
          LINE_SAMPLES,
        ),
        scales: {
          x: {
            type: "logarithmic",
            min: sizes[0]! * 0.9,
            max: sizes.at(-1)! * 1.1,
            title: title(chart.xAxis, 13),
            fixedTicks: sizes.map((value) => ({ value, label: chart.xLabel(value) })),
          },
          y: decadeScale(points.map(({ y }) => y), chart.yAxis),
        },
      },
    },
  }];
}

export function latenessCharts(result: ScenarioResult): ChartSpec[] {
  const lines = ["heddle", "raw worker", "Knitting"].flatMap((contender) =>
    (["p50", "p99"] as const).map((figure) => ({
      label: `${contender}, ${figure}`,
      color: COLORS[contender],
      measurements: result.measurements.filter((each) => each.contender === contender),
      figure,
      isDashed: figure === "p99",
    }))
  );
  return lineChart(result, {
    name: "lateness",
    heading: "From the end of a task to the code that awaits it",
    xAxis: "time the task takes (logarithmic)",
    yAxis: "lateness, µs (logarithmic, lower is better)",
    xLabel: formatUs,
    lines,
  });
}

const SWEEP_COLORS = ["#0072B2", "#E69F00", "#009E73"] as const;

export function threadSweepCharts(result: ScenarioResult): ChartSpec[] {
  const ours = result.measurements.filter(({ contender }) => !contender.startsWith("Knitting"));
  const lines = (result.cases ?? []).flatMap((name, index) =>
    (["p50", "mean"] as const).map((figure) => ({
      label: `${name.split(", ")[1]}, ${figure}`,
      color: SWEEP_COLORS[index],
      measurements: ours.filter((each) => each.case === name),
      figure,
      isDashed: figure === "mean",
    }))
  );
  return lineChart(result, {
    name: "thread-sweep",
    heading: "Void calls at once until all are answered, by workers",
    xAxis: "workers in the pool (logarithmic)",
    yAxis: "µs per batch (logarithmic, lower is better)",
    xLabel: String,
    lines,
  });
}
