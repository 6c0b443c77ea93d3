/** Ratios of contenders that were measured in turn, with their intervals: a point each, and a line from `low` to `high`. */
import type { PairedRatio, ScenarioResult } from "../benchmarks/harness/schema.ts";
import { nameOf } from "./bar-chart.ts";
import {
  type ChartSpec,
  COLORS,
  describe,
  frame,
  LINE_SAMPLES,
  type Tick,
  title,
} from "./style.ts";

export interface RatioGroup {
  /** A label of several lines is an array of them. */
  readonly label: string | readonly string[];
  readonly case: string;
  readonly size: number;
}

export interface RatioChart {
  readonly name: string;
  readonly heading: string;
  /** The contender to which all ratios are. */
  readonly to: string;
  readonly groups: readonly RatioGroup[];
  readonly contenders: readonly string[];
}

const GROUP_PIXELS = 16;
const CONTENDER_PIXELS = 15;
/** Titles, axis and legend. */
const FRAME_PIXELS = 190;
/** Of the height of a group, what its contenders are spread over. */
const SPREAD = 0.7;
const TICKS: readonly number[] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];
const FINE_TICKS: readonly number[] = [...TICKS, 0.3, 0.7, 1.5, 3, 7].sort((a, b) => a - b);
const FINEST_TICKS: readonly number[] = [...FINE_TICKS, 0.6, 0.8, 0.9, 1.1, 1.2, 1.3, 1.75]
  .sort((a, b) => a - b);
/** Ranges: a wider one has no room for the fine ticks, and one up to the other has room for the finest. */
const WIDE = 20, NARROW = 4;

interface Point {
  readonly x: number | null;
  readonly y: number | null;
}

/** The line of an interval with the point in its middle; the gap keeps it from the next. */
const intervalPoints = ({ ratio, low, high }: PairedRatio, y: number): Point[] => [
  { x: low, y },
  { x: ratio, y },
  { x: high, y },
  { x: null, y: null },
];

export function ratioChart(result: ScenarioResult, chart: RatioChart): ChartSpec[] {
  const pairedOf = (contender: string, group: RatioGroup): PairedRatio | undefined =>
    result.measurements.find((each) =>
      each.contender === contender && each.case === group.case && each.size === group.size
    )?.paired;
  const groups = chart.groups.filter((group) =>
    chart.contenders.some((contender) => pairedOf(contender, group) !== undefined)
  );
  const contenders = chart.contenders.filter((contender) =>
    groups.some((group) => pairedOf(contender, group) !== undefined)
  );
  if (groups.length === 0) return [];
  // From the top down, as the groups are read.
  const rowOf = (index: number): number => groups.length - 1 - index;
  const offsetOf = (index: number): number =>
    contenders.length === 1 ? 0 : (0.5 - index / (contenders.length - 1)) * SPREAD;
  const datasets: Record<string, unknown>[] = contenders.map((contender, index) => {
    const data = groups.flatMap((group, at) => {
      const paired = pairedOf(contender, group);
      return paired === undefined ? [] : intervalPoints(paired, rowOf(at) + offsetOf(index));
    });
    return {
      label: contender,
      data,
      showLine: true,
      borderColor: COLORS[contender],
      backgroundColor: COLORS[contender],
      borderWidth: 3,
      pointRadius: data.map((_, at) => at % 4 === 1 ? 5 : 0),
    };
  });
  datasets.push({
    label: chart.to,
    data: [{ x: 1, y: -0.5 }, { x: 1, y: groups.length - 0.5 }],
    showLine: true,
    borderColor: "#666666",
    borderDash: [6, 4],
    borderWidth: 2,
    pointRadius: 0,
  });
  const values = groups.flatMap((group) =>
    contenders.flatMap((contender) => {
      const paired = pairedOf(contender, group);
      return paired === undefined ? [] : [paired.low, paired.high];
    })
  );
  const ticks: readonly Tick[] = groups.map(({ label }, at) => ({ value: rowOf(at), label }));
  return [{
    scenario: result.scenario,
    runtime: result.runtime,
    name: chart.name,
    caption: describe(result),
    height: FRAME_PIXELS +
      groups.length * (GROUP_PIXELS + contenders.length * CONTENDER_PIXELS),
    config: {
      type: "scatter",
      data: { datasets },
      options: {
        ...frame(`${chart.heading} on ${nameOf(result)}`, describe(result), LINE_SAMPLES),
        scales: {
          x: ratioScale(values, chart.to),
          y: { min: -0.5, max: groups.length - 0.5, grid: { display: false }, fixedTicks: ticks },
        },
      },
    },
  }];
}

function ratioScale(values: readonly number[], to: string): Record<string, unknown> {
  const [min, max] = [Math.min(1, ...values) / 1.1, Math.max(1, ...values) * 1.1];
  return {
    type: "logarithmic",
    min,
    max,
    title: title(`time relative to ${to} (logarithmic, lower is better), 95 % intervals`, 13),
    fixedTicks: ticksOf(max / min).filter((value) => value >= min && value <= max)
      .map((value) => ({ value, label: `${value} ×` })),
  };
}

function ticksOf(range: number): readonly number[] {
  if (range > WIDE) return TICKS;
  return range > NARROW ? FINE_TICKS : FINEST_TICKS;
}
