/** Charts of `streams`: the time for each item, by kind of item, direction and contender. */
import type { ScenarioResult } from "../benchmarks/harness/schema.ts";
import { argumentCase, resultCase, STREAM_KINDS } from "../benchmarks/scenarios/streams-cases.ts";
import { barChart, figureOf, nameOf } from "./bar-chart.ts";
import { type ChartSpec, COLORS } from "./style.ts";

const CONTENDERS = {
  "heddle": COLORS["heddle"],
  "postMessage": COLORS["postMessage"],
  "Readable over a port": "#999999",
} as const;

export function streamsCharts(result: ScenarioResult): ChartSpec[] {
  const cases = STREAM_KINDS.flatMap((kind) => [resultCase(kind), argumentCase(kind)]);
  return barChart([result], {
    name: `streams-${result.runtime}`,
    heading: `A stream of many items on ${nameOf(result)}: time for each item (median)`,
    xAxis: "what an item is, and which way it goes",
    yAxis: "ns (logarithmic, lower is better)",
    isLogarithmic: true,
    groups: cases.map((name) => {
      const at = name.lastIndexOf(", ");
      return [name.slice(0, at), name.slice(at + 2)];
    }),
    bars: Object.entries(CONTENDERS).map(([contender, color]) => ({
      label: contender,
      color,
      values: cases.map((name) =>
        figureOf(result, "p50", (each) => each.case === name && each.contender === contender)
      ),
    })),
  });
}
