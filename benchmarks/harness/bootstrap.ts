/** Confidence intervals by bootstrap (Efron's percentile interval), the same every time. */
import { quantileSorted } from "simple-statistics";

/** Bounds of a 95 % confidence interval. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Picks one of the items at random. */
export type Draw = <Item>(items: readonly Item[]) => Item;

const RESAMPLES = 500;

/** A stream of numbers from 0 up to 1 that is the same every time (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = state + 0x6d2b79f5 | 0;
    let mixed = Math.imul(state ^ state >>> 15, 1 | state);
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed;
    return ((mixed ^ mixed >>> 14) >>> 0) / 2 ** 32;
  };
}

/** The interval of a statistic that `resample` computes from items it draws with replacement. */
export function bootstrapInterval(resample: (draw: Draw) => number): Interval {
  const random = createRandom(1);
  const draw: Draw = (items) => items[Math.floor(random() * items.length)]!;
  const values = Array.from({ length: RESAMPLES }, () => resample(draw)).sort((a, b) => a - b);
  return { low: quantileSorted(values, 0.025), high: quantileSorted(values, 0.975) };
}
