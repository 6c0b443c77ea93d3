/** Figures that follow from other figures of a result. */
import type { Measurement } from "./schema.ts";
import { round } from "./statistics.ts";

/** The measurement of `contender` at the case (unless any will do) and size of another. */
function sameOf(
  measurements: readonly Measurement[],
  contender: string,
  { case: name, size }: Measurement,
  isAnyCase = false,
): Measurement | undefined {
  return measurements.find((each) =>
    each.contender === contender && each.size === size && (isAnyCase || each.case === name)
  );
}

/** Against the one figure that a floor has per size. */
export function addRatioToFloor(measurements: Measurement[], floor: string): Measurement[] {
  return measurements.map((each) => {
    const p50 = sameOf(measurements, floor, each, true)?.p50;
    return p50 === undefined ? each : { ...each, ratioToFloor: round(each.p50 / p50) };
  });
}

/** Against a contender at the same case and size. */
export function addRatioToBaseline(measurements: Measurement[], baseline: string): Measurement[] {
  return measurements.map((each) => {
    // No requests failed, say: there is no ratio to nothing.
    const p50 = sameOf(measurements, baseline, each)?.p50 || undefined;
    return p50 === undefined ? each : { ...each, ratioToBaseline: round(each.p50 / p50) };
  });
}

/** The tails against those of a contender at the same case and size. */
export function addP99RatioToBaseline(
  measurements: Measurement[],
  baseline: string,
): Measurement[] {
  return measurements.map((each) => {
    const p99 = sameOf(measurements, baseline, each)?.p99;
    return p99 === undefined ? each : { ...each, p99RatioToBaseline: round(each.p99 / p99) };
  });
}

/** What is used beyond a contender at the same case and size. */
export function addOverBaseline(measurements: Measurement[], baseline: string): Measurement[] {
  return measurements.map((each) => {
    const mean = sameOf(measurements, baseline, each)?.mean;
    return mean === undefined ? each : { ...each, overBaseline: round(each.mean - mean) };
  });
}

/** Against another measurement: the first of which `isReference` is true. */
export function addRatioToReference(
  measurements: Measurement[],
  isReference: (candidate: Measurement, of: Measurement) => boolean,
): Measurement[] {
  return measurements.map((each) => {
    const reference = measurements.find((candidate) => isReference(candidate, each));
    return reference === undefined ? each : {
      ...each,
      ratioToReference: round(each.p50 / reference.p50),
      meanRatioToReference: round(each.mean / reference.mean),
    };
  });
}

/** The same case with one worker, where `size` counts workers. */
export const isWithOneWorker = (candidate: Measurement, of: Measurement): boolean =>
  candidate.case === of.case && candidate.size === 1;

/** Against the ideal that a measurement names. */
export function addRatioToIdeal(measurements: Measurement[]): Measurement[] {
  return measurements.map((each) =>
    each.ideal === undefined ? each : { ...each, ratioToIdeal: round(each.p50 / each.ideal) }
  );
}

/** Time of a call, where a measurement says how many there were. */
export function addPerCall(measurements: Measurement[]): Measurement[] {
  return measurements.map((each) =>
    each.calls === undefined ? each : { ...each, perCall: round(each.p50 / each.calls) }
  );
}

const BYTES_PER_US_PER_GB_PER_S = 1000;

/** Payloads of `size` bytes there and back: bytes that go one way, over half the time. */
export function addThroughput(measurements: Measurement[]): Measurement[] {
  return measurements.map((each) => {
    const bytesPerUs = each.size * (each.calls ?? 1) / (each.p50 / 2);
    return { ...each, gigabytesPerSecond: round(bytesPerUs / BYTES_PER_US_PER_GB_PER_S) };
  });
}

/** Speed-up over no workers, and that per thread. */
export function addSpeedUp(measurements: Measurement[]): Measurement[] {
  const alone = measurements.find(({ size }) => size === 0)?.p50;
  return alone === undefined ? measurements : measurements.map((measurement) => {
    const speedUp = alone / measurement.p50;
    const efficiency = speedUp / (measurement.size + 1);
    return { ...measurement, speedUp: round(speedUp), efficiency: round(efficiency) };
  });
}
