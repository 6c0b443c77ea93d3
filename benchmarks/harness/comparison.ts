/**
 * What got slower between two result sets, and how sure that is: the ratio of medians with a 95 % confidence
 * interval by bootstrap over rounds, and over the samples within each (Efron's percentile interval). Rounds differ by more
 * than samples of one, so a figure of one round says little: its interval is that of its samples alone.
 */
import { medianSorted, quantileSorted } from "simple-statistics";
import type { Measurement, ScenarioResult } from "./schema.ts";

export interface Change {
  readonly scenario: string;
  readonly runtime: string;
  readonly contender: string;
  readonly case: string;
  readonly size: number;
  readonly unit: Measurement["unit"];
  readonly before: number;
  readonly after: number;
  /** After over before, of p50: above 1 is slower. */
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
}

const RESAMPLES = 500;
/** What is called slower or quicker: by more than this, and surely so. */
export const NOTABLE = 0.05;

/** A stream of numbers from 0 up to 1 that is the same every time (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = state + 0x6d2b79f5 | 0;
    let mixed = Math.imul(state ^ state >>> 15, 1 | state);
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed;
    return ((mixed ^ mixed >>> 14) >>> 0) / 2 ** 32;
  };
}

const draw = <Item>(items: readonly Item[], random: () => number): Item =>
  items[Math.floor(random() * items.length)]!;

const sortedMedian = (values: number[]): number => medianSorted(values.sort((a, b) => a - b));

/** The median over rounds of each round's median, of rounds and samples drawn anew. */
function resample(rounds: Measurement["rounds"], random: () => number): number {
  return sortedMedian(rounds.map(() => {
    const round = draw(rounds, random);
    return sortedMedian(round.map(() => draw(round, random)));
  }));
}

export function compareMeasurements(
  before: Measurement,
  after: Measurement,
): Pick<Change, "ratio" | "low" | "high"> {
  const random = createRandom(1);
  const ratios = Array.from(
    { length: RESAMPLES },
    () => resample(after.rounds, random) / resample(before.rounds, random),
  ).sort((a, b) => a - b);
  return {
    ratio: after.p50 / before.p50,
    low: quantileSorted(ratios, 0.025),
    high: quantileSorted(ratios, 0.975),
  };
}

/** Every measurement that both results have. */
export function compareResults(before: ScenarioResult, after: ScenarioResult): Change[] {
  return after.measurements.flatMap((measurement) => {
    const old = before.measurements.find((each) =>
      each.contender === measurement.contender && each.case === measurement.case &&
      each.size === measurement.size
    );
    if (old === undefined) return [];
    const { contender, case: name, size, unit } = measurement;
    return [{
      scenario: after.scenario,
      runtime: after.runtime,
      contender,
      case: name,
      size,
      unit,
      before: old.p50,
      after: measurement.p50,
      ...compareMeasurements(old, measurement),
    }];
  });
}

export const isSlower = ({ ratio, low }: Change): boolean => ratio > 1 + NOTABLE && low > 1;
export const isQuicker = ({ ratio, high }: Change): boolean => ratio < 1 - NOTABLE && high < 1;
