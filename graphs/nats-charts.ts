/** Charts of `nats`: the time of a call, and calls a second by number of worker processes. */
import {
  AT_ONCE,
  CONTENDERS,
  HEDDLE,
  MACHINES,
  RAW,
  RAW_POOL,
  ROUND_TRIP,
  THROUGHPUT,
} from "../benchmarks/scenarios/nats-cases.ts";
import { barChart, figureOf, nameOf, type Results } from "./bar-chart.ts";
import { type ChartSpec, COLORS } from "./style.ts";

const BAR_COLORS: Readonly<Record<typeof CONTENDERS[number], string | undefined>> = {
  [HEDDLE]: COLORS["heddle"],
  [RAW]: COLORS["postMessage"],
  [RAW_POOL]: "#999999",
};

interface Chart {
  readonly name: string;
  readonly heading: string;
  readonly yAxis: string;
  readonly case: string;
  readonly sizes: readonly number[];
  readonly label: (size: number) => string;
  readonly isLogarithmic?: boolean;
}

function chart(results: Results, { case: name, sizes, label, ...rest }: Chart): ChartSpec[] {
  const bars = results.flatMap((result) => sizes.map((size) => ({ result, size })));
  return barChart(results, {
    ...rest,
    xAxis: "runtime of the caller and of the workers",
    groups: bars.map(({ result, size }) => [nameOf(result), label(size)]),
    bars: CONTENDERS.map((contender) => ({
      label: contender,
      color: BAR_COLORS[contender],
      values: bars.map(({ result, size }) =>
        figureOf(
          result,
          "p50",
          (each) => each.contender === contender && each.case === name && each.size === size,
        )
      ),
    })),
  });
}

export function natsCharts(results: Results): ChartSpec[] {
  return [
    ...chart(results, {
      name: "nats",
      heading: "A call to another process over NATS: time of a call (median)",
      yAxis: "ns (logarithmic, lower is better)",
      case: ROUND_TRIP,
      sizes: AT_ONCE,
      label: (size) => `${size} at once`,
      isLogarithmic: true,
    }),
    ...chart(results, {
      name: "nats-machines",
      heading: "A task of 1 ms in worker processes over NATS, on two cores",
      yAxis: "calls a second (higher is better)",
      case: THROUGHPUT,
      sizes: MACHINES,
      label: (size) => `${size} process${size > 1 ? "es" : ""}`,
    }),
  ];
}
