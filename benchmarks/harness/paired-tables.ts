/** Tables of scenarios whose contenders take turns: times, and ratios of neighbours in time. */
import { type Column, column, rowTable } from "./row-table.ts";
import type { PairedRatio, ScenarioResult } from "./schema.ts";

/** A ratio with its 95 % interval. */
export const formatPaired = (paired: PairedRatio | undefined): string => {
  if (paired === undefined) return "–";
  const [ratio, low, high] = [paired.ratio, paired.low, paired.high].map((value) =>
    String(Number(value.toPrecision(3)))
  );
  return `${ratio} (${low}–${high})`;
};

export const pairedColumn = (to: string): Column =>
  column(`p50 × ${to}`, ({ paired }) => formatPaired(paired));

export function hotTable(result: ScenarioResult): string[] {
  const to = result.scenario === "adapter" ? "Piscina" : "bare worker";
  return [
    ...rowTable(
      result,
      ["case", "contender", "calls at once"],
      [
        column("p50 µs", ({ p50 }) => String(p50)),
        column("p99 µs", ({ p99 }) => String(p99)),
        column("µs per call", ({ perCall }) => String(perCall ?? "–")),
        pairedColumn(to),
        column("pairs", ({ paired }) => String(paired?.pairs ?? "–")),
      ],
      ({ size }) => [String(size)],
    ),
    "",
    "Contenders take turns in one process, in blocks of 50 ms of which the second half counts; one at a time: 20 calls one after the other to a sample. In brackets: the 95 % interval of the ratio.",
  ];
}
