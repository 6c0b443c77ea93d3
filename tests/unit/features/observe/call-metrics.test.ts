/** Times of single calls, and what the histograms of their tasks count, with clocks of the test's own. */
import { describe, expect, test } from "vitest";
import {
  CallMeter,
  callMetricsBytes,
  CallStamps,
  histogramsOf,
} from "../../../../src/features/watching/observe/call-metrics.ts";

const TENTHS_PER_MS = 10_000;
/** First slot whose calls are not measured. */
const FAR_SLOT = 4096;

/** A host and a worker of a pool with so many tasks. */
function createMetrics(tasks = 1) {
  const memory = new SharedArrayBuffer(callMetricsBytes(tasks));
  const clock = { hostMs: 1000, workerMs: 1000, hostReadings: 0 };
  let forget = (): void => {};
  const now = (): number => {
    clock.hostReadings++;
    return clock.hostMs;
  };
  const stamps = new CallStamps(memory, now, (callback) => forget = callback);
  const meter = new CallMeter(memory, tasks, () => clock.workerMs);
  return {
    clock,
    meter,
    stamps,
    /** The host makes a call whose times are wanted, at this time. */
    makeWanted: (slot: number, ms: number): void => {
      clock.hostMs = ms;
      forget();
      stamps.isWanted = true;
      stamps.made(slot);
      stamps.isWanted = false;
    },
    forget: () => forget(),
    readWait: (task = 0) => histogramsOf(memory, task).wait.read(TENTHS_PER_MS),
    readRun: (task = 0) => histogramsOf(memory, task).run.read(TENTHS_PER_MS),
  };
}

const UNKNOWN = { waitMs: undefined, runMs: undefined };

describe("the times of a call", () => {
  test("are known as far as it is, whether or not it is measured for its task", () => {
    const { clock, makeWanted, meter, readWait, stamps } = createMetrics();
    makeWanted(7, 1000);
    expect(stamps.timesOf(7)).toEqual(UNKNOWN);
    clock.workerMs = 1030;
    meter.begin(0, 7, false);
    expect(stamps.timesOf(7)).toEqual({ waitMs: 30, runMs: undefined });
    clock.workerMs = 1050;
    meter.responding(7);
    expect(stamps.timesOf(7)).toEqual({ waitMs: 30, runMs: 20 });
    expect([stamps.timesOf(6), stamps.timesOf(8), readWait()]).toEqual([
      UNKNOWN,
      UNKNOWN,
      undefined,
    ]);
  });

  test("are not those of the slot's call before", () => {
    const { makeWanted, meter, stamps } = createMetrics();
    makeWanted(0, 1000);
    meter.begin(0, 0, false);
    meter.responding(0);
    makeWanted(0, 2000);
    expect(stamps.timesOf(0)).toEqual(UNKNOWN);
  });

  test("are unknown if they were not wanted, and in slots without a stamp", () => {
    const { makeWanted, meter, stamps } = createMetrics();
    stamps.made(0);
    makeWanted(FAR_SLOT, 1000);
    for (const slot of [0, FAR_SLOT]) {
      meter.begin(0, slot, true);
      meter.responding(slot);
      expect(stamps.timesOf(slot)).toEqual(UNKNOWN);
    }
  });

  test("are neither negative nor zero where clocks differ or stand still", () => {
    const { clock, makeWanted, meter, stamps } = createMetrics();
    makeWanted(0, 1000);
    clock.workerMs = 999;
    meter.begin(0, 0, false);
    meter.responding(0);
    const { waitMs, runMs } = stamps.timesOf(0);
    expect(waitMs).toBe(0);
    expect(runMs).toBeGreaterThan(0);
  });
});

test("the host reads its clock once for the calls that it makes in one go", () => {
  const { clock, forget, meter, readWait, stamps } = createMetrics();
  stamps.made(0);
  clock.hostMs = 1500;
  stamps.made(1);
  expect(clock.hostReadings).toBe(1);
  forget();
  stamps.made(2);
  expect(clock.hostReadings).toBe(2);
  clock.workerMs = 1600;
  for (const slot of [0, 1, 2]) meter.begin(0, slot, true);
  expect(readWait()!.mean).toBeCloseTo((600 + 600 + 100) / 3);
});

describe("the histograms of a task", () => {
  test("count the calls before a measured one with it", () => {
    const { clock, meter, readRun, readWait, stamps } = createMetrics();
    stamps.made(0);
    clock.workerMs = 1008;
    for (const isMeasured of [false, false, true, false]) meter.begin(0, 0, isMeasured);
    expect(readWait()).toMatchObject({ count: 3, max: 8, mean: 8 });
    meter.ended(0, 5 * TENTHS_PER_MS);
    expect(readRun()).toMatchObject({ count: 4, max: 5, mean: 5 });
    clock.workerMs = 1020;
    meter.begin(0, 0, true);
    expect(readWait()).toMatchObject({ count: 5, max: 20, mean: (3 * 8 + 2 * 20) / 5 });
  });

  test("count a measured call even if one that began later has ended", () => {
    const { meter, readRun } = createMetrics();
    meter.begin(0, 0, true);
    meter.begin(0, 1, true);
    meter.ended(0, TENTHS_PER_MS);
    meter.ended(0, TENTHS_PER_MS);
    expect(readRun()!.count).toBe(3);
  });

  test("have no wait of calls without a stamp, which count with the next", () => {
    const { meter, readWait, stamps } = createMetrics();
    meter.begin(0, 5, true); // the stamp is 0
    stamps.made(FAR_SLOT);
    meter.begin(0, FAR_SLOT, true);
    expect(readWait()).toBeUndefined();
    stamps.made(0);
    meter.begin(0, 0, true);
    expect(readWait()!.count).toBe(3);
  });

  test("are shared by its variants and by no other task", () => {
    const { meter, readRun, readWait, stamps } = createMetrics(2);
    stamps.made(0);
    for (const index of [1, 3, 5]) {
      meter.begin(index, 0, true);
      meter.ended(index, 1);
    }
    expect([readWait(1)!.count, readRun(1)!.count]).toEqual([3, 3]);
    expect([readWait(0), readRun(0)]).toEqual([undefined, undefined]);
  });
});
