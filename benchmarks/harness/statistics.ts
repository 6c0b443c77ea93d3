/** Figures of a round, and how rounds are put together. */
import { mean, median, quantileSorted } from "simple-statistics";
import { MAX_KEPT_SAMPLES, type Measurement, type RoundFigure } from "./schema.ts";

/** Medians over rounds of each round's percentiles. */
export function summarize(contender: string, rounds: readonly RoundFigure[]): Measurement {
  const sorted = rounds.map(({ samples }) => [...samples].sort((a, b) => a - b));
  const over = (figure: (samples: number[]) => number) => round(median(sorted.map(figure)));
  const { case: name, size, unit, calls, ideal } = rounds[0]!;
  return {
    case: name,
    size,
    contender,
    unit,
    ...(calls === undefined ? {} : { calls }),
    ...(ideal === undefined ? {} : { ideal }),
    p50: over((samples) => quantileSorted(samples, 0.5)),
    p75: over((samples) => quantileSorted(samples, 0.75)),
    p99: over((samples) => quantileSorted(samples, 0.99)),
    ...(hasTail(rounds) ? { p999: over((samples) => quantileSorted(samples, 0.999)) } : {}),
    mean: over(mean),
    min: over((samples) => samples[0]!),
    rounds: sorted.map((samples) => thinOut(samples, MAX_KEPT_SAMPLES).map(round)),
    samples: rounds.reduce((sum, { count }) => sum + count, 0),
  };
}

/** Below this p99.9 would be the slowest sample. */
const ENOUGH_FOR_TAIL = 1000;

const hasTail = (rounds: readonly RoundFigure[]): boolean =>
  rounds.every((round) => round.hasTail === true && round.count >= ENOUGH_FOR_TAIL);

/** At most `most` of the sorted samples, evenly spaced. */
export function thinOut(samples: readonly number[], most: number): number[] {
  const step = Math.max(1, samples.length / most);
  const kept: number[] = [];
  for (let at = 0; at < samples.length; at += step) kept.push(samples[Math.floor(at)]!);
  return kept;
}

/** Four significant digits. */
export function round(value: number): number {
  return Number(value.toPrecision(4));
}
