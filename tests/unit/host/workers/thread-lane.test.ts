import { expect, test } from "vitest";
import { Codec } from "../../../../src/codec/codec.ts";
import { BEGUN, ENDED, LIFE, STARTED } from "../../../../src/lane/layout.ts";
import { LaneSet } from "../../../../src/host/lanes/lane-set.ts";
import {
  type LaneEnd,
  type LaneOptions,
  ThreadLane,
} from "../../../../src/host/workers/thread-lane.ts";
import { hostRuntime } from "../../../../src/runtimes/host.ts";
import type { HostRuntime } from "../../../../src/runtimes/runtime.ts";
import { AwakeCount } from "../../../../src/sync/awake-count.ts";

/** A lane whose thread neither answers nor ends, and whose timers are run by hand, the first due first. */
function createStuckLane(startTimeoutMs = Infinity): {
  lane: ThreadLane;
  ends: LaneEnd[];
  events: string[];
  terminations: () => number;
  nextTimer: () => number;
  timers: readonly unknown[];
} {
  const timers: { callback: () => void; delayMs: number }[] = [];
  let terminations = 0;
  const runtime: HostRuntime = {
    ...hostRuntime,
    setTimeout: (callback, delayMs) => {
      const timer = { callback, delayMs };
      timers.push(timer);
      const clear = (): void => {
        if (timers.includes(timer)) timers.splice(timers.indexOf(timer), 1);
      };
      return { ref() {}, unref() {}, clear };
    },
  };
  const ends: LaneEnd[] = [];
  const events: string[] = [];
  const start = { tasks: [], active: [AwakeCount.create()], spinMs: 0, limits: {} };
  const lane = new ThreadLane(0, 1, {
    runtime,
    codec: new Codec({ access: runtime, origin: 0, maxPayloadBytes: Infinity, allowsBorrow: true }),
    spawn: () => ({
      post() {},
      onMessage() {},
      onError() {},
      onExit() {},
      ref() {},
      unref() {},
      terminate: () => {
        terminations++;
        return new Promise(() => {});
      },
    }),
    ringSizes: { requests: 1024, responses: 1024 },
    start: start as unknown as LaneOptions["start"],
    startTimeoutMs,
    teardownTimeoutMs: 1000,
  }, {
    events: { onTasks: () => undefined, onWake() {}, onWoken() {}, emit: () => true },
    onReady: () => void events.push("ready"),
    lanes: new LaneSet(),
    onEnd: (_lane, end) => void ends.push(end),
  });
  const nextTimer = (): number => {
    timers.sort((one, other) => one.delayMs - other.delayMs);
    const { callback, delayMs } = timers.shift()!;
    callback();
    return delayMs;
  };
  return { lane, ends, events, terminations: () => terminations, nextTimer, timers };
}

/** What the worker's thread says of its life. */
function setLife(lane: ThreadLane, bits: number): void {
  Atomics.or(new Int32Array(lane.endpoint.rx.memory.i32.buffer), LIFE, bits);
}

test("a host that blocks reads the start of a worker, and its end, from shared memory", () => {
  const { lane, ends, events } = createStuckLane();
  expect([lane.checkLife(false), lane.phase]).toEqual([false, "starting"]);
  setLife(lane, BEGUN);
  expect([lane.checkLife(true), lane.phase]).toEqual([false, "starting"]);
  setLife(lane, STARTED);
  expect([lane.checkLife(false), lane.phase, events]).toEqual([true, "preparing", ["ready"]]);
  expect(lane.checkLife(true)).toBe(false);
  setLife(lane, ENDED);
  expect([lane.checkLife(false), lane.phase]).toEqual([true, "gone"]);
  expect(ends).toMatchObject([{ exitCode: undefined, startError: undefined }]);
});

test("a worker that has started and ended before the host looked is no failed start", () => {
  const { lane, ends, events } = createStuckLane();
  setLife(lane, BEGUN | STARTED | ENDED);
  expect(lane.checkLife(false)).toBe(true);
  expect([events, ends]).toMatchObject([["ready"], [{ startError: undefined }]]);
});

test("a worker that ended before it had started has failed to start", () => {
  const { lane, ends, events } = createStuckLane();
  setLife(lane, BEGUN | ENDED);
  expect(lane.checkLife(false)).toBe(true);
  expect([events, ends]).toMatchObject([[], [{ startError: { code: "HEDDLE_WORKER_START" } }]]);
});

test("a closed worker that cannot be stopped is abandoned after another 100 ms", async () => {
  const { lane, ends, terminations, nextTimer } = createStuckLane();
  const closed = lane.end("the pool was closed");
  expect(terminations()).toBe(0);
  expect(nextTimer()).toBe(1000);
  expect([terminations(), ends.length]).toEqual([1, 0]);
  expect(nextTimer()).toBe(100);
  await closed;
  expect(ends).toMatchObject([{ exitCode: undefined }]);
});

test("a worker already being stopped when it is closed is abandoned after 100 ms", async () => {
  const { lane, ends, terminations, nextTimer } = createStuckLane();
  void lane.end(new Error("stuck"));
  const closed = lane.end("the pool was closed");
  expect([terminations(), nextTimer()]).toEqual([1, 100]);
  await closed;
  expect(ends).toMatchObject([{ reason: "stuck" }]);
});

test("a worker that does not start in time, counted in parts, has failed to start after another 100 ms", () => {
  const { ends, terminations, nextTimer } = createStuckLane(8000);
  for (let part = 0; part < 8; part++) expect(nextTimer()).toBe(1000);
  expect(terminations()).toBe(0);
  expect(nextTimer()).toBe(100);
  expect([terminations(), nextTimer()]).toEqual([1, 1000]);
  expect(ends).toMatchObject([{ startError: { message: expect.stringContaining("8000 ms") } }]);
});

test("a worker that has started has no limit any more", () => {
  const { lane, timers } = createStuckLane(8000);
  setLife(lane, BEGUN | STARTED);
  expect([timers.length, lane.checkLife(true), timers.length]).toEqual([1, true, 0]);
});
