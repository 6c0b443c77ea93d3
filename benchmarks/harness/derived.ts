/** Figures that follow from other figures of a result. */
import type { Measurement } from "./schema.ts";
import { round } from "./statistics.ts";

/** p50 of `contender` at the case (unless any will do) and size of a measurement. */
function p50Of(
  measurements: readonly Measurement[],
  contender: string,
  { case: name, size }: Measurement,
  isAnyCase = false,
): number | undefined {
  return measurements.find((each) =>
    each.contender === contender && each.size === size && (isAnyCase || each.case === name)
  )?.p50;
}

/** Against the one figure that a floor has per size. */
export function addRatioToFloor(measurements: Measurement[], floor: string): Measurement[] {
  return measurements.map((each) => {
    const p50 = p50Of(measurements, floor, each, true);
    return p50 === undefined ? each : { ...each, ratioToFloor: round(each.p50 / p50) };
  });
}

/** Against a contender at the same case and size. */
export function addRatioToBaseline(measurements: Measurement[], baseline: string): Measurement[] {
  return measurements.map((each) => {
    const p50 = p50Of(measurements, baseline, each);
    return p50 === undefined ? each : { ...each, ratioToBaseline: round(each.p50 / p50) };
  });
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
