/** Chart.js configurations made from results. Plain data, so that PNG and page share them. */
import type { Measurement, ScenarioResult } from "../benchmarks/harness/schema.ts";

export interface ChartSpec {
  /** File name without extension. */
  readonly name: string;
  readonly caption: string;
  readonly config: Record<string, unknown>;
}

/** Okabe and Ito's palette: told apart with any colour vision. */
const COLORS: Readonly<Record<string, string>> = {
  "heddle": "#0072B2",
  "raw ring floor": "#999999",
  "postMessage": "#E69F00",
  "Piscina": "#D55E00",
  "tokio mpsc + oneshot": "#009E73",
  "node": "#009E73",
  "deno": "#0072B2",
  "bun": "#E69F00",
};

const title = (text: string, size = 16) => ({ display: true, text, font: { size } });

function describe({ machine, date, isQuick }: ScenarioResult): string {
  const mode = isQuick ? ", quick run" : "";
  return `${machine.cpu}, ${machine.cores} cores, ${date.slice(0, 10)}${mode}`;
}

/** One chart per case: time of a batch over its size, one line per contender. */
export function latencyChart(
  result: ScenarioResult,
  tokio: ScenarioResult | undefined,
): ChartSpec[] {
  const all = [...result.measurements, ...(tokio?.measurements ?? [])];
  const cases = [...new Set(result.measurements.map((each) => each.case))];
  return cases.map((name) => {
    const contenders = [...new Set(all.filter((each) => each.case === name).map(contenderOf))];
    const datasets = contenders.map((contender) => ({
      label: contender,
      data: pointsOf(all.filter((each) => each.case === name && each.contender === contender)),
      borderColor: COLORS[contender],
      backgroundColor: COLORS[contender],
      borderWidth: contender === "heddle" ? 3 : 2,
      borderDash: contender === "raw ring floor" ? [6, 4] : [],
      pointRadius: 4,
    }));
    return {
      name: `latency-${result.runtime}-${name.replaceAll(" ", "-")}`,
      caption: describe(result),
      config: {
        type: "line",
        data: { datasets },
        options: {
          layout: { padding: { left: 8, right: 24, top: 8, bottom: 8 } },
          plugins: {
            title: title(
              `${name} on ${result.runtime} ${result.version}: time until a batch is answered (p50)`,
            ),
            subtitle: { display: true, text: describe(result), padding: { bottom: 12 } },
            legend: { position: "bottom" },
          },
          scales: {
            x: {
              type: "logarithmic",
              min: 0.9,
              max: 1100,
              title: title("calls at once", 13),
              afterBuildTicks: "decades",
            },
            y: { type: "logarithmic", title: title("µs (logarithmic, lower is better)", 13) },
          },
        },
      },
    };
  });
}

const contenderOf = (measurement: Measurement): string => measurement.contender;
const pointsOf = (measurements: readonly Measurement[]): { x: number; y: number }[] =>
  measurements.map(({ size, p50 }) => ({ x: size, y: p50 })).sort((a, b) => a.x - b.x);

/** Speed-up of the prime search over threads, all runtimes, with the ideal line up to the cores. */
export function heavyLoadChart(results: readonly ScenarioResult[]): ChartSpec[] {
  const { cores } = results[0]!.machine;
  const most = Math.max(
    ...results.flatMap(({ measurements }) => measurements.map(({ size }) => size)),
  );
  const labels = Array.from(
    { length: most + 1 },
    (_, size) =>
      `${size === 0 ? "main alone" : `main + ${size}`}${
        size + 1 > cores ? " (oversubscribed)" : ""
      }`,
  );
  const bySize = (result: ScenarioResult) =>
    labels.map((_, size) =>
      result.measurements.find((each) => each.size === size)?.speedUp ?? null
    );
  const datasets: Record<string, unknown>[] = results.map((result) => ({
    label: `${result.runtime} ${result.version}`,
    data: bySize(result),
    backgroundColor: COLORS[result.runtime],
  }));
  datasets.push({
    type: "line",
    label: "ideal on these cores",
    data: labels.map((_, size) => Math.min(size + 1, cores)),
    borderColor: "#999999",
    backgroundColor: "#999999",
    borderDash: [6, 4],
    pointRadius: 3,
  });
  return [{
    name: "heavy-load",
    caption: describe(results[0]!),
    config: {
      type: "bar",
      data: { labels, datasets },
      options: {
        layout: { padding: { left: 8, right: 24, top: 8, bottom: 8 } },
        plugins: {
          title: title("All primes up to 10,000,000: speed-up over the main thread alone"),
          subtitle: { display: true, text: describe(results[0]!), padding: { bottom: 12 } },
          legend: { position: "bottom" },
        },
        scales: {
          x: { title: title("threads", 13) },
          y: { beginAtZero: true, title: title("speed-up (higher is better)", 13) },
        },
      },
    },
  }];
}
