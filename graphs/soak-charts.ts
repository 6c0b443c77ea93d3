/** Charts of `soak`. */
import { ECHO, MEMORY as SOAK_MEMORY } from "../benchmarks/scenarios/soak-cases.ts";
import { nameOf, type Results } from "./bar-chart.ts";
import { type ChartSpec, COLORS, describe, frame, LINE_SAMPLES, title, toLine } from "./style.ts";

export interface SoakChart {
  readonly name: string;
  readonly heading: string;
  readonly yAxis: string;
  readonly case: string;
  readonly figures: readonly ("p50" | "p99")[];
}

export function soakCharts(results: Results): ChartSpec[] {
  return [
    soakChart(results, {
      name: "soak-latency",
      heading: "One f64 after each round of mixed calls, minute by minute, 2 workers",
      yAxis: "µs (lower is better)",
      case: ECHO,
      figures: ["p50", "p99"],
    }),
    soakChart(results, {
      name: "soak-memory",
      heading: "Resident memory under mixed calls, minute by minute, 2 workers",
      yAxis: "MiB",
      case: SOAK_MEMORY,
      figures: ["p50"],
    }),
  ];
}

/** Figures over the minutes. */
export function soakChart(results: Results, chart: SoakChart): ChartSpec {
  const datasets = results.flatMap((result) =>
    chart.figures.map((figure) => ({
      label: chart.figures.length === 1 ? nameOf(result) : `${nameOf(result)}, ${figure}`,
      ...toLine(
        result.measurements.filter((each) => each.case === chart.case),
        (each) => each[figure],
      ),
      borderColor: COLORS[result.runtime],
      backgroundColor: COLORS[result.runtime],
      borderDash: figure === "p99" ? [6, 4] : [],
      pointRadius: 3,
    }))
  );
  const caption = describe(results[0]!);
  return {
    scenario: results[0]!.scenario,
    name: chart.name,
    caption,
    config: {
      type: "line",
      data: { datasets },
      options: {
        ...frame(chart.heading, caption, LINE_SAMPLES),
        scales: {
          x: { type: "linear", min: 1, title: title("minute", 13), ticks: { precision: 0 } },
          y: { beginAtZero: true, title: title(chart.yAxis, 13) },
        },
      },
    },
  };
}
