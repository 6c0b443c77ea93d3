/** Charts of `sporadic` and `contended`, one runtime in each. */
import type { ScenarioResult } from "../benchmarks/harness/schema.ts";
import { formatUs } from "../benchmarks/harness/units.ts";
import {
  AT_ONCE,
  caseOf,
  EVERY as EVERY_3_MS,
  ONE_CORE,
  PLACEMENTS,
} from "../benchmarks/scenarios/contended-cases.ts";
import { CPU_OF, EVERY, NO_CALLS, POISSON } from "../benchmarks/scenarios/sporadic-cases.ts";
import { barChart, figureOf, nameOf } from "./bar-chart.ts";
import { CONTENDERS } from "./cold-charts.ts";
import { type ChartSpec, COLORS } from "./style.ts";
import { lineChart } from "./waiting-charts.ts";

interface PaceAxis {
  readonly case: string;
  readonly name: string;
  readonly title: string;
  readonly xAxis: string;
  readonly xLabel: (size: number) => string;
}

const EVERY_AXIS: PaceAxis = {
  case: EVERY,
  name: "sporadic",
  title: "Calls at a steady pace",
  xAxis: "one call every (logarithmic)",
  xLabel: formatUs,
};

const POISSON_AXIS: PaceAxis = {
  case: POISSON,
  name: "sporadic-poisson",
  title: "Calls at random",
  xAxis: "calls a second, at random (logarithmic)",
  xLabel: (rate) => rate.toLocaleString("en"),
};

function latencyChart(result: ScenarioResult, axis: PaceAxis): ChartSpec[] {
  return lineChart(result, {
    ...axis,
    heading: `${axis.title}: time of a call`,
    yAxis: "µs (logarithmic, lower is better)",
    lines: CONTENDERS.flatMap((contender) =>
      (["p50", "p99"] as const).map((figure) => ({
        label: `${contender}, ${figure}`,
        color: COLORS[contender],
        measurements: result.measurements.filter((each) =>
          each.contender === contender && each.case === axis.case
        ),
        figure,
        isDashed: figure === "p99",
      }))
    ),
  });
}

function cpuChart(result: ScenarioResult, axis: PaceAxis): ChartSpec[] {
  return lineChart(result, {
    ...axis,
    name: `${axis.name}-cpu`,
    heading: `${axis.title}: processor time of the process`,
    yAxis: "µs a call (logarithmic, lower is better)",
    lines: [...CONTENDERS, NO_CALLS].map((contender) => ({
      label: contender,
      color: COLORS[contender],
      measurements: result.measurements.filter((each) =>
        each.contender === contender && each.case === CPU_OF[axis.case]
      ),
      figure: "mean",
      isDashed: contender === NO_CALLS,
    })),
  });
}

export const sporadicCharts = (result: ScenarioResult): ChartSpec[] => [
  ...latencyChart(result, EVERY_AXIS),
  ...cpuChart(result, EVERY_AXIS),
  ...latencyChart(result, POISSON_AXIS),
];

const LOADS = [
  { label: "one at a time", name: AT_ONCE, size: 1 },
  { label: "20 at once", name: AT_ONCE, size: 20 },
  { label: EVERY_3_MS, name: EVERY_3_MS, size: 1 },
] as const;

export function contendedCharts(result: ScenarioResult): ChartSpec[] {
  const places = PLACEMENTS.flatMap((placement) => LOADS.map((load) => ({ placement, ...load })));
  return (["p50", "p99"] as const).flatMap((figure) =>
    barChart([result], {
      name: `contended-${figure}-${result.runtime}`,
      heading: `Calls without a core for each thread, on ${nameOf(result)} (${figure})`,
      xAxis: "calls",
      yAxis: "µs until all are answered (logarithmic, lower is better)",
      isLogarithmic: true,
      groups: places.map((
        { label, placement },
      ) => [label, placement === ONE_CORE ? "on one core" : placement]),
      bars: CONTENDERS.map((contender) => ({
        label: contender,
        color: COLORS[contender],
        values: places.map(({ placement, name, size }) =>
          figureOf(
            result,
            figure,
            (each) =>
              each.contender === contender && each.size === size &&
              each.case === caseOf(placement, name),
          )
        ),
      })),
    })
  );
}
