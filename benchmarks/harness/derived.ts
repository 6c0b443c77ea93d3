/** Figures that follow from other figures of a result. */
import type { Measurement } from "./schema.ts";
import { round } from "./statistics.ts";

/** Adds figures to all measurements of a result. */
export type Derive = (measurements: readonly Measurement[]) => Measurement[];

const each =
  (more: (measurement: Measurement, all: readonly Measurement[]) => Partial<Measurement>): Derive =>
  (all) => all.map((measurement) => ({ ...measurement, ...more(measurement, all) }));

export const isSamePlace = (one: Measurement, other: Measurement): boolean =>
  one.case === other.case && one.size === other.size;

/** What follows from the measurement of a contender at the same case and size, where there is one. */
const beside = (
  baseline: string,
  more: (measurement: Measurement, of: Measurement) => Partial<Measurement>,
): Derive =>
  each((measurement, all) => {
    const of = all.find((other) => other.contender === baseline && isSamePlace(other, measurement));
    return of === undefined ? {} : more(measurement, of);
  });

/** Against the one figure that a floor has per size. */
export const toFloor = (floor: string): Derive =>
  each(({ p50, size }, all) => {
    const of = all.find((other) => other.contender === floor && other.size === size);
    return of === undefined ? {} : { ratioToFloor: round(p50 / of.p50) };
  });

/** No requests failed, say: there is no ratio to nothing. */
export const toBaseline = (baseline: string): Derive =>
  beside(baseline, ({ p50 }, of) => of.p50 === 0 ? {} : { ratioToBaseline: round(p50 / of.p50) });

/** The tails. */
export const tailToBaseline = (baseline: string): Derive =>
  beside(baseline, ({ p99 }, of) => ({ p99RatioToBaseline: round(p99 / of.p99) }));

/** What is used beyond it. */
export const overBaseline = (baseline: string): Derive =>
  beside(baseline, ({ mean }, of) => ({ overBaseline: round(mean - of.mean) }));

/** Against another measurement: the first of which `isReference` is true. */
export const toReference = (
  isReference: (candidate: Measurement, of: Measurement) => boolean,
): Derive =>
  each((measurement, all) => {
    const reference = all.find((candidate) => isReference(candidate, measurement));
    return reference === undefined ? {} : {
      ratioToReference: round(measurement.p50 / reference.p50),
      meanRatioToReference: round(measurement.mean / reference.mean),
    };
  });

/** The same case with one worker, where `size` counts workers. */
export const isWithOneWorker = (candidate: Measurement, of: Measurement): boolean =>
  candidate.case === of.case && candidate.size === 1;

/** Against the ideal that a measurement names. */
export const toIdeal: Derive = each(({ p50, ideal }) =>
  ideal === undefined ? {} : { ratioToIdeal: round(p50 / ideal) }
);

/** Time of a call, where a measurement says how many there were. */
export const perCall: Derive = each(({ p50, calls }) =>
  calls === undefined ? {} : { perCall: round(p50 / calls) }
);

const BYTES_PER_US_PER_GB_PER_S = 1000;

/** Payloads of `size` bytes there and back: bytes that go one way, over half the time. */
export const throughput: Derive = each(({ p50, size, calls = 1 }) => ({
  gigabytesPerSecond: round(size * calls / (p50 / 2) / BYTES_PER_US_PER_GB_PER_S),
}));

/** Speed-up over no workers, and that per thread. */
export const speedUp: Derive = each(({ p50, size }, all) => {
  const alone = all.find((other) => other.size === 0)?.p50;
  if (alone === undefined) return {};
  return { speedUp: round(alone / p50), efficiency: round(alone / p50 / (size + 1)) };
});
