import { expect, test } from "vitest";
import { Codec } from "../../../../src/codec/codec.ts";
import {
  type LaneEnd,
  type LaneOptions,
  ThreadLane,
} from "../../../../src/host/workers/thread-lane.ts";
import { currentRuntime } from "../../../../src/runtimes/current.ts";
import type { Runtime } from "../../../../src/runtimes/runtime.ts";

/** A lane whose thread neither answers nor ends, and whose timers are run by hand, the first due first. */
function createStuckLane(): {
  lane: ThreadLane;
  ends: LaneEnd[];
  terminations: () => number;
  nextTimer: () => number;
} {
  const timers: { callback: () => void; delayMs: number }[] = [];
  let terminations = 0;
  const runtime: Runtime = {
    ...currentRuntime,
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
  const start = { tasks: [], active: [], spinMs: 0, limits: {} };
  const lane = new ThreadLane(0, {
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
    startTimeoutMs: Infinity,
    teardownTimeoutMs: 1000,
  }, {
    onTasks: () => undefined,
    onReady() {},
    onWake() {},
    onWoken() {},
    onTaskMessage() {},
    onUnhandledRejection() {},
    onFull() {},
    onEnd: (_lane, end) => void ends.push(end),
  });
  const nextTimer = (): number => {
    timers.sort((one, other) => one.delayMs - other.delayMs);
    const { callback, delayMs } = timers.shift()!;
    callback();
    return delayMs;
  };
  return { lane, ends, terminations: () => terminations, nextTimer };
}

test("a closed worker that cannot be stopped is abandoned after another 100 ms", async () => {
  const { lane, ends, terminations, nextTimer } = createStuckLane();
  const closed = lane.close();
  expect(terminations()).toBe(0);
  expect(nextTimer()).toBe(1000);
  expect([terminations(), ends.length]).toEqual([1, 0]);
  expect(nextTimer()).toBe(100);
  await closed;
  expect(ends).toMatchObject([{ exitCode: undefined }]);
});

test("a worker already being stopped when it is closed is abandoned after 100 ms", async () => {
  const { lane, ends, terminations, nextTimer } = createStuckLane();
  lane.fail(new Error("stuck"));
  const closed = lane.close();
  expect([terminations(), nextTimer()]).toEqual([1, 100]);
  await closed;
  expect(ends).toMatchObject([{ reason: "stuck" }]);
});
