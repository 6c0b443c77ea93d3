/** Charts of `hot`, `adapter` and `processes`: how contenders compare that take turns in one process. */
import type { ScenarioResult } from "../benchmarks/harness/schema.ts";
import {
  ADAPTER,
  HOT_SIZES,
  HOT_VALUES,
  type HotValue,
  WITH_TWO,
} from "../benchmarks/scenarios/hot-cases.ts";
import {
  BARE_FORK,
  JEST_WORKER,
  PROCESS_VALUES,
  sizesOf,
  TINYPOOL,
  WORKERPOOL,
} from "../benchmarks/scenarios/processes-cases.ts";
import { ratioChart, type RatioGroup } from "./ratio-chart.ts";
import type { ChartSpec } from "./style.ts";

const groupsOf = (
  values: readonly HotValue[],
  sizesOf: (name: string) => readonly number[],
): readonly RatioGroup[] =>
  values.flatMap(({ name }) =>
    sizesOf(name).map((size) => ({
      label: size === 1 ? `${name}, one at a time` : `${name}, ${size} at once`,
      case: name,
      size,
    }))
  );

const GROUPS = groupsOf(HOT_VALUES, () => HOT_SIZES);

export const hotCharts = (result: ScenarioResult): ChartSpec[] =>
  ratioChart(result, {
    name: `hot-${result.runtime}`,
    heading: "Calls without pauses",
    to: "bare worker",
    groups: GROUPS,
    contenders: ["heddle", "bare web worker", "Piscina", "Tinypool"],
  });

export const adapterCharts = (result: ScenarioResult): ChartSpec[] =>
  ratioChart(result, {
    name: `adapter-${result.runtime}`,
    heading: "The adapter for Piscina's programs",
    to: "Piscina",
    groups: GROUPS,
    contenders: [ADAPTER, `${ADAPTER}, ${WITH_TWO}`],
  });

export const processCharts = (result: ScenarioResult): ChartSpec[] =>
  ratioChart(result, {
    name: `processes-${result.runtime}`,
    heading: "Workers that are processes",
    to: BARE_FORK,
    groups: groupsOf(PROCESS_VALUES, sizesOf),
    contenders: ["heddle", JEST_WORKER, TINYPOOL, WORKERPOOL],
  });
