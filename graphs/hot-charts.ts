/** Charts of `hot` and `adapter`: how contenders compare that take turns in one process. */
import type { ScenarioResult } from "../benchmarks/harness/schema.ts";
import { ADAPTER, HOT_SIZES, HOT_VALUES, WITH_TWO } from "../benchmarks/scenarios/hot-cases.ts";
import { ratioChart, type RatioGroup } from "./ratio-chart.ts";
import type { ChartSpec } from "./style.ts";

const GROUPS: readonly RatioGroup[] = HOT_VALUES.flatMap(({ name }) =>
  HOT_SIZES.map((size) => ({
    label: size === 1 ? `${name}, one at a time` : `${name}, ${size} at once`,
    case: name,
    size,
  }))
);

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
