/** Charts of `programs`: seconds of each program by language, and what a message to a worker costs. */
import { PROGRAMS } from "../benchmarks/programs/catalogue.ts";
import {
  BARE_WORKER,
  BUFFERED_CHANNEL,
  HEDDLE,
  ROUND_TRIP,
} from "../benchmarks/scenarios/programs-cases.ts";
import { barChart, figureOf, type Results } from "./bar-chart.ts";
import { type ChartSpec, COLORS } from "./style.ts";

interface Group {
  readonly result: Results[number];
  readonly contender: string;
}

const groupsOf = (results: Results, name: string): Group[] =>
  results.flatMap((result) =>
    result.measurements.filter((each) => each.case === name)
      .map(({ contender }) => ({ result, contender }))
  );

const labelOf = ({ result: { runtime }, contender }: Group): string[] =>
  runtime === "native" ? [contender] : [...contender.split(", "), runtime];

export function programCharts(results: Results): ChartSpec[] {
  const chart = (
    groups: readonly Group[],
    caseName: string,
    name: string,
    heading: string,
    unit: string,
  ): ChartSpec[] =>
    barChart(results, {
      name,
      heading,
      groups: groups.map(labelOf),
      xAxis: "language or runtime",
      yAxis: `${unit} (logarithmic, lower is better)`,
      isLogarithmic: true,
      bars: [{
        label: "median",
        color: COLORS["heddle"],
        values: groups.map(({ result, contender }) =>
          figureOf(
            result,
            "p50",
            (each) => each.contender === contender && each.case === caseName,
          )
        ),
      }],
    });
  const channels = groupsOf(results, ROUND_TRIP)
    .filter(({ contender }) => [HEDDLE, BARE_WORKER, BUFFERED_CHANNEL].includes(contender));
  return [
    ...PROGRAMS.flatMap(({ name, about }) =>
      chart(groupsOf(results, name), name, `programs-${name}`, `${about}: whole process`, "s")
    ),
    ...chart(
      channels,
      ROUND_TRIP,
      "programs-messages",
      "A message to a worker and back, 1,000 in flight",
      "ns a message",
    ),
  ];
}
