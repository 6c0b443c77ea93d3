/** Buckets of histograms: bounded errors over the whole range, and percentiles against sorted values. */
import { expect, test } from "vitest";
import {
  bucketOf,
  HISTOGRAM_WORDS,
  LogHistogram,
  percentilesOf,
  valueOf,
} from "../../../../src/features/watching/observe/log-histogram.ts";

test("every value is at most 1/32 away from the value of its bucket", () => {
  const values = [0, 1, 15, 16, 17, 31, 32, 33, 1000, 2 ** 20 - 1, 2 ** 20, 2 ** 35 + 12345];
  for (let power = 4; power < 36; power++) values.push(2 ** power - 1, 2 ** power, 2 ** power + 1);
  for (const value of values) {
    const error = Math.abs(valueOf(bucketOf(value)) - value);
    expect([value, error <= value / 32]).toEqual([value, true]);
  }
});

test("buckets are in the order of their values, without a gap", () => {
  let last = 0;
  for (let value = 0; value < 70_000; value++) {
    const bucket = bucketOf(value);
    expect(bucket === last || bucket === last + 1).toBe(true);
    last = bucket;
  }
  expect(bucketOf(2 ** 36 - 1)).toBeLessThan(HISTOGRAM_WORDS - 3);
});

test("percentiles are those of the sorted values, within the error; max and mean are exact", () => {
  const histogram = new LogHistogram(new SharedArrayBuffer(8 * HISTOGRAM_WORDS), 0);
  expect(histogram.read(1)).toBeUndefined();
  const values = Array.from({ length: 10_000 }, (_, index) => Math.floor(1.0012 ** index) + index);
  for (const value of values) histogram.add(value, 1);
  const read = histogram.read(1)!;
  const near = (share: number, found: number): void => {
    const exact = values[Math.ceil(share * values.length) - 1]!;
    expect(Math.abs(found - exact)).toBeLessThanOrEqual(exact / 16);
  };
  near(0.5, read.p50);
  near(0.9, read.p90);
  near(0.99, read.p99);
  near(0.999, read.p999);
  expect(read.max).toBe(values.at(-1));
  expect(read.count).toBe(values.length);
  expect(read.mean).toBeCloseTo(values.reduce((sum, value) => sum + value, 0) / values.length, 6);
});

test("a value with a weight counts as so many values; values beyond the range count as its end", () => {
  const histogram = new LogHistogram(new SharedArrayBuffer(8 * HISTOGRAM_WORDS), 0);
  histogram.add(10, 64);
  histogram.add(1000, 1);
  expect(histogram.read(1)).toMatchObject({ p50: 10, p90: 10, count: 65, max: 1000 });
  expect(histogram.read(1)!.histogram).toEqual([[10, 64], [valueOf(bucketOf(1000)), 1]]);
  histogram.add(1e15, 1000);
  expect(histogram.read(1)!.max).toBe(2 ** 36 - 1);
  histogram.add(-5, 1);
  expect(histogram.read(1)!.count).toBe(1066);
});

test("percentiles of the difference of two readings are those of the values between them", () => {
  const histogram = new LogHistogram(new SharedArrayBuffer(8 * HISTOGRAM_WORDS), 0);
  histogram.add(5, 1000);
  const before = new Map(histogram.read(1)!.histogram);
  histogram.add(5, 1);
  histogram.add(14, 3);
  const since = histogram.read(1)!.histogram
    .map(([value, count]) => [value, count - (before.get(value) ?? 0)] as const);
  expect(percentilesOf(since, 14)).toEqual({
    p50: 14,
    p90: 14,
    p99: 14,
    p999: 14,
    max: 14,
    count: 4,
  });
  expect(percentilesOf([], 0)).toBeUndefined();
});
