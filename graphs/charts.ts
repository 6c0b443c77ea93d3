/** Charts of the `latency` and `heavy-load` scenarios. */
import type { Measurement, ScenarioResult } from "../benchmarks/harness/schema.ts";
import {
  type ChartSpec,
  COLORS,
  decadeScale,
  describe,
  frame,
  LINE_SAMPLES,
  type Tick,
  title,
  toBars,
  toLine,
} from "./style.ts";

const BATCH_TICKS: readonly Tick[] = [1, 10, 100, 1000].map((value) => ({
  value,
  label: value.toLocaleString("en"),
}));

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
      ...toLine(
        all.filter((each) => each.case === name && each.contender === contender),
        ({ p50 }) => p50,
      ),
      borderColor: COLORS[contender],
      backgroundColor: COLORS[contender],
      borderWidth: contender === "heddle" ? 3 : 2,
      borderDash: contender === "raw ring floor" ? [6, 4] : [],
      pointRadius: 4,
    }));
    return {
      scenario: "latency",
      runtime: result.runtime,
      name: `latency-${result.runtime}-${name.replaceAll(" ", "-")}`,
      caption: describe(result),
      config: {
        type: "line",
        data: { datasets },
        options: {
          ...frame(
            `${name} on ${result.runtime} ${result.version}: time until a batch is answered (p50)`,
            describe(result),
            LINE_SAMPLES,
          ),
          scales: {
            x: {
              type: "logarithmic",
              min: 0.9,
              max: 1100,
              title: title("calls at once (logarithmic)", 13),
              fixedTicks: BATCH_TICKS,
            },
            y: decadeScale(
              datasets.flatMap(({ data }) => data.map(({ y }) => y)),
              "µs (logarithmic, lower is better)",
            ),
          },
        },
      },
    };
  });
}

const contenderOf = (measurement: Measurement): string => measurement.contender;

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
  const bySize = (result: ScenarioResult, isByHand: boolean) =>
    toBars(labels.map((_, size) => {
      const found = result.measurements.find((each) =>
        each.size === size && each.contender.endsWith("by hand") === isByHand &&
        !each.contender.endsWith("Knitting")
      );
      return found?.speedUp === undefined ? null : { value: found.speedUp, samples: found.samples };
    }));
  const datasets: Record<string, unknown>[] = results.flatMap((result) => {
    const name = `${result.runtime} ${result.version}`;
    const color = COLORS[result.runtime];
    return [
      { label: name, ...bySize(result, false), backgroundColor: color },
      {
        label: `${name}, worker_threads by hand`,
        ...bySize(result, true),
        backgroundColor: "transparent",
        borderColor: color,
        borderWidth: 2,
      },
    ];
  });
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
    scenario: "heavy-load",
    name: "heavy-load",
    caption: describe(results[0]!),
    config: {
      type: "bar",
      data: { labels, datasets },
      options: {
        ...frame(
          "All primes up to 10,000,000: speed-up over the main thread alone",
          describe(results[0]!),
        ),
        scales: {
          x: { title: title("threads", 13) },
          y: { beginAtZero: true, title: title("speed-up (higher is better)", 13) },
        },
      },
    },
  }];
}
