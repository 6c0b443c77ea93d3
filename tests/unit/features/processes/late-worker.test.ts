/** A worker that is a process, before the code that starts it is there. */
import { describe, expect, test } from "vitest";
import {
  LateWorker,
  type LoadedWorker,
} from "../../../../src/features/workers/processes/host/late-worker.ts";

/** A worker whose code comes when `settle` is called, and what it was told. */
function createLate() {
  const told: string[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const worker = {
    post: (message: unknown) => void told.push(`post ${String(message)}`),
    onExit: () => void told.push("onExit"),
    terminate: () => Promise.resolve(told.push("terminate")),
  } as unknown as LoadedWorker;
  const late = new LateWorker(async () => {
    await promise;
    return () => {
      told.push("start");
      return worker;
    };
  }, undefined);
  return { late, told, resolve, reject };
}

const turn = (): Promise<void> => new Promise((done) => setTimeout(done, 0));

describe("a worker whose code is being loaded", () => {
  test("gets what was posted before, in order", async () => {
    const { late, told, resolve } = createLate();
    late.post(1);
    late.post(2);
    resolve();
    await turn();
    late.post(3);
    expect(told).toEqual(["start", "post 1", "post 2", "post 3"]);
    await late.terminate();
    expect(told.at(-1)).toBe("terminate");
  });

  test("is not started once it was stopped, and ends once, later", async () => {
    const { late, told, resolve } = createLate();
    const ends: unknown[][] = [];
    late.onExit((...end) => ends.push(end));
    const stopped = late.terminate();
    expect(ends).toEqual([]);
    await stopped;
    resolve();
    await turn();
    expect(ends).toEqual([[undefined]]);
    expect(told).toEqual([]);
  });

  test("tells why its code cannot be loaded, unless it was stopped", async () => {
    for (const isStopped of [false, true]) {
      const { late, reject } = createLate();
      const ends: unknown[][] = [];
      late.onExit((...end) => ends.push(end));
      if (isStopped) await late.terminate();
      reject(new Error("no such file"));
      await turn();
      const failure = "it could not be started: no such file";
      expect(ends).toEqual([
        isStopped
          ? [undefined]
          : [undefined, { processId: undefined, signal: undefined, stderr: "", failure }],
      ]);
    }
  });
});
