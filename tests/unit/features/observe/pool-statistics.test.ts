/** What `stats()` gives, of parts whose counters the test sets. */
import { expect, test } from "vitest";
import {
  type PoolStatistics,
  readStatistics,
} from "../../../../src/features/watching/observe/host/pool-statistics.ts";
import type { PoolParts } from "../../../../src/api/pool/parts.ts";
import type { PoolSpec } from "../../../../src/api/tasks/pool-spec.ts";
import { InFlight, type PendingCall, RUN_BY_HOST } from "../../../../src/host/calls/in-flight.ts";
import { LaneSet } from "../../../../src/host/lanes/lane-set.ts";
import type { Phase } from "../../../../src/host/lanes/phase.ts";
import {
  callMetricsBytes,
  histogramsOf,
} from "../../../../src/features/watching/observe/call-metrics.ts";
import { GaugeWriter } from "../../../../src/metering/worker-gauges.ts";
import { CHUNK, EMITTING, VARIANTS } from "../../../../src/protocol/task-variants.ts";
import { FakeLane } from "../../../support/lanes.ts";

const NOW_MS = 20_000;
const NAMES = ["add", "multiply"];

/** Each has a value of its own. */
const COUNTERS = {
  refused: 3,
  retried: 4,
  workersStarted: 5,
  workersLost: 6,
  abandonedThreads: 7,
  isOnHost: true,
  budget: { threads: 3, max: 4 },
  recycled: 8,

  inlined: 9,
  moved: 10,
  parks: 11,
  wakeMessages: 12,
  safetyHits: 13,
  lateWakes: 14,
  lateResponses: 15,
  streamItems: 16,
  timedOut: 17,
  aborted: 18,
};

/** The phases of a worker that takes calls. */
const OPEN: readonly Phase[] = ["preparing", "open"];

/** A pool with two tasks. */
function createPool(metrics?: SharedArrayBuffer) {
  const inFlight = new InFlight(undefined, undefined, VARIANTS * NAMES.length);
  const lanes = new LaneSet();
  const threads: FakeLane[] = [];
  const readyMs = new Map<number, number>();
  const given = COUNTERS;
  const inliner: { readonly ran: number } | undefined = { ran: given.inlined };
  const waiting = { retried: given.retried, inliner: inliner as typeof inliner | undefined };
  const spec = {
    sources: NAMES.map((name) => ({ name })),
    runtime: { coarseNow: () => NOW_MS },
    options: { workerOptions: { name: "pool" }, budget: given.budget },
  } as unknown as PoolSpec;
  const parts = {
    spec,
    readyMs,
    dispatcher: {
      inFlight,
      lanes,
      waiting,
      moved: given.moved,
      backpressure: { refused: given.refused },
      responses: { late: given.lateResponses },
    },
    supervisor: {
      threads,
      started: given.workersStarted,
      lost: given.workersLost,
      abandonedThreads: given.abandonedThreads,
      isOnHost: given.isOnHost,
      recycled: given.recycled,
    },
    loop: { statistics: { parks: given.parks, wakeMessages: given.wakeMessages } },
    safety: { statistics: { hits: given.safetyHits, lateWakes: given.lateWakes } },
    abortedEarly: 1,
    parts: new Set([
      {},
      { counters: () => ({ streamItems: given.streamItems }) },
      { counters: () => ({ timedOut: given.timedOut, aborted: given.aborted - 1 }) },
    ]),
    existing: () => metrics && { buffer: metrics },
  } as unknown as PoolParts;
  return {
    inFlight,
    lanes,
    waiting,
    read: (): PoolStatistics => readStatistics(parts),
    /** Makes a call of this row of `CallCounts`. */
    make: (row = 0): PendingCall => Object.assign(inFlight.add(() => {}, () => {}), { row }),
    /** Adds a worker, which was ready one second ago if it is. */
    addWorker: (...phases: readonly Phase[]): FakeLane => {
      const lane = new FakeLane({ id: threads.length });
      threads.push(lane);
      for (const phase of phases) lanes.move(lane, phase);
      if (phases.includes("open")) readyMs.set(lane.id, NOW_MS - 1000);
      return lane;
    },
  };
}

test("each counter is that of its part", () => {
  const { read, waiting } = createPool();
  expect(read()).toMatchObject(COUNTERS);
  waiting.inliner = undefined;
  expect(read().inlined).toBe(0);
});

test("calls in flight are queued or run; settled ones have resolved or rejected", () => {
  const { inFlight, make, read } = createPool();
  const calls = [make(), make(), make(), make(), make(), make()];
  calls[0]!.lane = 1;
  calls[1]!.lane = RUN_BY_HOST;
  expect(read()).toMatchObject({ inFlight: 6, queued: 4, running: 2, completed: 0, failed: 0 });
  for (const call of calls.slice(0, 2)) inFlight.resolve(call, 1);
  inFlight.reject(calls[2]!, 1);
  inFlight.counts.refuse(0);
  expect(read()).toMatchObject({ inFlight: 3, queued: 3, running: 0, completed: 2, failed: 2 });
  const stream = {
    isOpen: true,
    taken: 0,
    onItems: () => {},
    drop: () => {},
    isWaitedFor: false,
    isOfNext: false,
  };
  calls[3]!.keep().stream = stream;
  calls[4]!.keep().stream = { ...stream, isOpen: false };
  expect(read().openStreams).toBe(1);
});

test("calls of a task include those of its variants, and not those of unknown tasks", () => {
  const { inFlight, make, read } = createPool();
  const { length } = NAMES;
  for (const index of [0, 1, 1 + CHUNK * length, 1 + EMITTING * length]) {
    inFlight.resolve(make(index + 1), 1);
  }
  inFlight.reject(make(2), 1);
  inFlight.reject(make(), 1);
  const times = { wait: undefined, run: undefined };
  expect(read()).toMatchObject({ completed: 4, failed: 2 });
  expect(read().tasks).toEqual([
    { name: "add", calls: 1, failures: 0, ...times },
    { name: "multiply", calls: 4, failures: 1, ...times },
  ]);
});

test("times of a task are in milliseconds, and those of another are unknown", () => {
  const metrics = new SharedArrayBuffer(callMetricsBytes(NAMES.length));
  const { wait, run } = histogramsOf(metrics, 1);
  wait.add(80_000, 3);
  run.add(5, 1); // tenths of a microsecond
  const [add, multiply] = createPool(metrics).read().tasks;
  expect([add!.wait, add!.run]).toEqual([undefined, undefined]);
  const near = expect.closeTo(8, 1); // buckets are wider than a value
  expect(multiply!.wait).toMatchObject({ p50: near, p999: near, max: 8, mean: 8, count: 3 });
  expect(multiply!.wait!.histogram).toEqual([[near, 3]]);
  expect(multiply!.run).toMatchObject({ max: 0.0005, count: 1 });
});

test("workers are in the state that their calls and the pool give them", () => {
  const { addWorker, lanes, read } = createPool();
  addWorker();
  addWorker("preparing"); // it is being prepared
  const [, busy, draining] = [addWorker(...OPEN), addWorker(...OPEN), addWorker(...OPEN)];
  addWorker(...OPEN, "closing");
  for (const lane of [busy!, draining!]) lane.give(0, 2);
  busy!.load.remove(0);
  lanes.move(draining!, "draining");
  const { ready, workers } = read();
  const states = ["starting", "starting", "idle", "busy", "draining", "closing"];
  expect(workers.map(({ state }) => state)).toEqual(states);
  expect(workers.map(({ id, name }) => name === `pool-${id}`)).toEqual(states.map(() => true));
  expect(workers[3]).toMatchObject({ id: 3, calls: 2, running: 1 });
  expect(ready).toBe(2);
});

test("utilization is since a worker was ready, and nothing before that", () => {
  const { addWorker, read } = createPool();
  const sleeper = new GaugeWriter(addWorker(...OPEN).pair.lane);
  addWorker();
  sleeper.sleeps(NOW_MS - 250);
  sleeper.measured(4096);
  const [asleep, starting] = read().workers;
  expect(asleep).toMatchObject({ utilization: { recent: 0.75, total: 0.75 }, memoryBytes: 4096 });
  expect(starting).toMatchObject({ utilization: { recent: 0, total: 0 }, memoryBytes: undefined });
});
