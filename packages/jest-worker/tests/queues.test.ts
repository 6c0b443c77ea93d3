/** The order of calls: queues, keys and policies. */
import { expect, test } from "vitest";
import {
  FifoQueue,
  PriorityQueue,
  type QueueChildMessage,
  type TaskQueue,
  Worker,
  type WorkerFarmOptions,
  type WorkerPoolInterface,
} from "@heddle/jest-worker";

const task = (name: string): QueueChildMessage => ({
  request: [1, false, name, []],
  onStart() {},
  onEnd() {},
  onCustomMessage() {},
});

/** Takes the next call as a worker does. */
function take(queue: TaskQueue, workerId: number): string | undefined {
  const next = queue.dequeue(workerId);
  if (next === null) return undefined;
  next.request[1] = true;
  return next.request[2];
}

test("FifoQueue keeps the order among calls for one worker and for any", () => {
  const queue = new FifoQueue();
  queue.enqueue(task("first"));
  queue.enqueue(task("of 1"), 1);
  queue.enqueue(task("second"));
  expect([take(queue, 1), take(queue, 1), take(queue, 1), take(queue, 1)])
    .toEqual(["first", "of 1", "second", undefined]);
  queue.enqueue(task("third"));
  queue.enqueue(task("of 2"), 2);
  expect(take(queue, 0)).toBe("third");
  expect([take(queue, 1), take(queue, 2)]).toEqual([undefined, "of 2"]);
});

test("PriorityQueue takes the lowest priority, first those of the worker", () => {
  const queue = new PriorityQueue((name) => Number(name.slice(1)));
  const names = Array.from({ length: 50 }, (_, i) => `a${(i * 37) % 50}`);
  for (const name of names) queue.enqueue(task(name));
  queue.enqueue(task("b7"), 3);
  const taken = names.map(() => take(queue, 3));
  expect(taken.slice(6, 9)).toEqual(["a6", "b7", "a7"]);
  expect(taken.at(-1)).toBe("a48");
  expect([take(queue, 0), take(queue, 0), take(queue, 3)]).toEqual(["a49", undefined, undefined]);
});

test("PriorityQueue keeps the order of equal priorities", () => {
  const queue = new PriorityQueue(() => 0);
  const names = Array.from({ length: 20 }, (_, i) => `n${i}`);
  for (const name of names) queue.enqueue(task(name));
  expect(names.map(() => take(queue, 0))).toEqual(names);
});

/** A pool of the program's own, whose calls the test ends. */
class ManualPool implements WorkerPoolInterface {
  static sent: { workerId: number; args: unknown[]; end(result: unknown): void }[] = [];
  readonly send: WorkerPoolInterface["send"] = (workerId, [, , , args], onStart, onEnd) => {
    onStart({ getWorkerId: () => workerId });
    ManualPool.sent.push({ workerId, args, end: (result) => onEnd(null, result) });
  };
  getStdout(): NodeJS.ReadableStream {
    return process.stdin;
  }
  getStderr(): NodeJS.ReadableStream {
    return process.stdin;
  }
  start(): Promise<void> {
    return Promise.resolve();
  }
  end(): Promise<{ forceExited: boolean }> {
    return Promise.resolve({ forceExited: true });
  }
}

interface Manual extends Worker {
  f(...args: unknown[]): Promise<unknown>;
}

function manual(options: WorkerFarmOptions): Manual {
  ManualPool.sent = [];
  const path = new URL("./fixtures/module.cjs", import.meta.url);
  const all = { numWorkers: 3, exposedMethods: ["f"], WorkerPool: ManualPool, ...options };
  return new Worker(path, all) as Manual;
}

const workers = (): number[] => ManualPool.sent.map(({ workerId }) => workerId);
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

test("calls go to the workers in turn, and wait if all are busy", async () => {
  const farm = manual({});
  const results = [1, 2, 3, 4].map((n) => farm.f(n));
  expect(workers()).toEqual([0, 1, 2]);
  ManualPool.sent[1]!.end("b");
  expect(await results[1]).toBe("b");
  expect(workers()).toEqual([0, 1, 2, 1]);
  expect(ManualPool.sent[3]!.args).toEqual([4]);
  expect(await farm.end()).toEqual({ forceExited: true });
});

test("in-order takes the first free worker", async () => {
  const farm = manual({ workerSchedulingPolicy: "in-order" });
  void farm.f(1);
  ManualPool.sent[0]!.end("");
  await turn();
  void farm.f(2);
  void farm.f(3);
  expect(workers()).toEqual([0, 0, 1]);
});

test("calls of one key run in one worker", () => {
  const computeWorkerKey = (method: string, key: unknown): string | null =>
    key === null ? null : `${method}${key}`;
  const farm = manual({ computeWorkerKey });
  for (const key of ["a", "b", "a", null, "b"]) void farm.f(key);
  expect(workers()).toEqual([0, 1, 2]);
  for (let i = 0; i < 5; i++) ManualPool.sent[i]!.end("");
  expect(ManualPool.sent.map(({ workerId, args }) => [workerId, args[0]]))
    .toEqual([[0, "a"], [1, "b"], [2, null], [0, "a"], [1, "b"]]);
});

test("a queue of the program's own; a key or a priority that cannot be computed rejects its call", async () => {
  const last: QueueChildMessage[] = [];
  const taskQueue: TaskQueue = {
    enqueue: (given) => void last.push(given),
    dequeue: () => last.pop() ?? null,
  };
  const farm = manual({ numWorkers: 1, taskQueue });
  for (const n of [1, 2, 3]) void farm.f(n);
  for (let i = 0; i < 3; i++) ManualPool.sent[i]!.end("");
  expect(ManualPool.sent.map(({ args }) => args[0])).toEqual([1, 3, 2]);
  const failing = manual({
    computeWorkerKey: () => {
      throw new RangeError("no key");
    },
  });
  await expect(failing.f(1)).rejects.toThrow("no key");
});
