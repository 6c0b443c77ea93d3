/** Ratios of contenders that were measured in turn: taken between neighbours in time, which the machine slows alike. */
import { median } from "simple-statistics";
import { bootstrapInterval } from "./bootstrap.ts";
import type { PairedRatio, RoundFigure } from "./schema.ts";
import { round } from "./statistics.ts";

/** Below this an interval says nothing. */
const LEAST_PAIRS = 5;

/** Medians of all blocks of all rounds, in order. */
const blocksOf = (rounds: readonly RoundFigure[]): readonly number[] =>
  rounds.flatMap(({ blocks, samples }) => blocks ?? [median([...samples])]);

/** The ratio of a contender to another of the same case and size; undefined if they do not pair. */
export function pairedRatio(
  rounds: readonly RoundFigure[],
  to: string,
  others: readonly RoundFigure[],
): PairedRatio | undefined {
  const [own, theirs] = [blocksOf(rounds), blocksOf(others)];
  if (own.length !== theirs.length || own.length < LEAST_PAIRS) return undefined;
  const ratios = own.map((value, index) => value / theirs[index]!);
  if (!ratios.every(Number.isFinite)) return undefined;
  const { low, high } = bootstrapInterval((draw) => median(ratios.map(() => draw(ratios))));
  return {
    to,
    ratio: round(median(ratios)),
    low: round(low),
    high: round(high),
    pairs: ratios.length,
  };
}
