/**
 * What got slower between two result sets, and how sure that is: the ratio of medians with a 95 % confidence
 * interval by bootstrap over rounds, and over the samples within each. Rounds differ by more
 * than samples of one, so a figure of one round says little: its interval is that of its samples alone.
 */
import { medianSorted } from "simple-statistics";
import { bootstrapInterval, type Draw } from "./bootstrap.ts";
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

/** What is called slower or quicker: by more than this, and surely so. */
export const NOTABLE = 0.05;

const sortedMedian = (values: number[]): number => medianSorted(values.sort((a, b) => a - b));

/** The median over rounds of each round's median, of rounds and samples drawn anew. */
function resample(rounds: Measurement["rounds"], draw: Draw): number {
  return sortedMedian(rounds.map(() => {
    const round = draw(rounds);
    return sortedMedian(round.map(() => draw(round)));
  }));
}

export function compareMeasurements(
  before: Measurement,
  after: Measurement,
): Pick<Change, "ratio" | "low" | "high"> {
  return {
    ratio: after.p50 / before.p50,
    ...bootstrapInterval((draw) => resample(after.rounds, draw) / resample(before.rounds, draw)),
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
