/** What the host computes from the sleep that a worker reports. */
import { expect, test } from "vitest";
import { CONTROL_BYTES } from "../../../src/lane/layout.ts";
import { readGauges } from "../../../src/features/watching/observe/host/read-gauges.ts";
import { GaugeWriter } from "../../../src/metering/worker-gauges.ts";

/** A worker that became ready at 10,000 ms. */
function worker() {
  const lane = new SharedArrayBuffer(CONTROL_BYTES);
  const writer = new GaugeWriter(lane);
  return {
    writer,
    read: (nowMs: number) => readGauges(lane, 10_000, nowMs),
    park: (nowMs: number): void => writer.sleeps(nowMs),
    /** A sleep in the past. */
    slept: (fromMs: number, toMs: number): void => {
      writer.sleeps(fromMs);
      writer.woke(toMs);
    },
  };
}

test("a worker that never slept is busy", () => {
  expect(worker().read(10_500)).toEqual({ recent: 1, total: 1, memoryBytes: undefined });
});

test("a worker that sleeps since it was ready is idle", () => {
  const { park, read } = worker();
  park(10_000);
  expect(read(12_000)).toMatchObject({ recent: 0, total: 0 });
});

test("sleep in the past and a sleep that lasts both count", () => {
  const { slept, park, read } = worker();
  slept(10_000, 10_250);
  expect(read(10_500).total).toBeCloseTo(0.5);
  park(10_500);
  expect(read(11_000).total).toBeCloseTo(0.25);
});

test("recent forgets what was more than two seconds ago", () => {
  const { writer, park, slept, read } = worker();
  // Idle for ten seconds, then half busy: 5 ms of sleep in every 10.
  park(10_000);
  writer.woke(20_000);
  let now = 20_000;
  for (let round = 0; round < 400; round++) {
    slept(now, now + 5);
    now += 10;
  }
  expect(read(now).recent).toBeCloseTo(0.5, 1);
  expect(read(now).total).toBeCloseTo(2000 / 14_000, 2);
  // Then busy with one long task.
  expect(read(now + 3000).recent).toBeCloseTo(1, 1);
});

test("a wake without a sleep of its own counts nothing", () => {
  const { writer, read } = worker();
  writer.sleeps(10_000);
  writer.woke(10_000); // there was a call, and later a park with async tasks in flight
  writer.woke(10_900);
  expect(read(11_000).total).toBe(1);
});

test("memory is what was measured last", () => {
  const { writer, read } = worker();
  writer.measured(5);
  writer.measured(7);
  expect(read(10_001).memoryBytes).toBe(7);
});
