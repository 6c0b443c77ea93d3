/** Workers by hand: one message for each call, one for each answer, matched by number. */
import { isMainThread, parentPort, Worker as Thread, workerData } from "node:worker_threads";
import { spinFor } from "../harness/clock.ts";
import { countPrimes } from "../scenarios/primes.ts";
import { callsByNumber } from "./calls-by-number.ts";
import type { EchoContender, LatencyContender, PrimeWorkers, SpinContender } from "./types.ts";

const MARK = "heddle-benchmark-messages";

const same = (value: unknown): unknown => value;
const TASKS = {
  echo: same,
  echoMoved: same,
  nothing: () => {},
  asyncNothing: async () => {},
  spin: (us: unknown) => spinFor(us as number),
  primes: (range: unknown) => countPrimes(...range as [number, number]),
};
/** Short messages: a task is its number. */
const NAMES = Object.keys(TASKS) as TaskName[];
type TaskName = keyof typeof TASKS;

type Request = readonly [id: number, task: number, value: unknown];
type Response = readonly [id: number, value: unknown];
/** Posts a message; `moved` goes along instead of being copied. */
type Post = (message: Request | Response, moved?: ArrayBuffer[]) => void;

export interface MessageCalls {
  call(task: TaskName, value?: unknown, moved?: ArrayBuffer[]): Promise<unknown>;
  close(): Promise<unknown>;
}

/** The worker's half: runs the task of a request and posts its answer. */
async function answer([id, task, value]: Request, post: Post): Promise<void> {
  const name = NAMES[task]!;
  const result: unknown = TASKS[name](value);
  const moved = name === "echoMoved" ? [result as ArrayBuffer] : undefined;
  post([id, name === "asyncNothing" ? await result : result], moved);
}

const createCalls = (post: Post) =>
  callsByNumber((id, task: TaskName, value?: unknown, moved?: ArrayBuffer[]) =>
    post([id, NAMES.indexOf(task), value], moved)
  );

interface Recipient {
  postMessage(message: unknown): void;
  postMessage(message: unknown, moved: ArrayBuffer[]): void;
}

const postTo = (to: Recipient): Post => (message, moved) =>
  moved === undefined ? to.postMessage(message) : to.postMessage(message, moved);

export async function startThread(): Promise<MessageCalls> {
  const worker = new Thread(new URL(import.meta.url), { workerData: MARK });
  await new Promise((resolve) => worker.once("online", resolve));
  const { call, settle } = createCalls(postTo(worker));
  worker.on("message", settle);
  return { call, close: () => worker.terminate() };
}

/** For Deno, whose `node:worker_threads` walks through typed arrays element by element: 1 MiB takes it a hundred times as long. */
export async function startWebWorker(): Promise<MessageCalls> {
  const worker = new Worker(new URL(import.meta.url), { type: "module", name: MARK });
  const { call, settle } = createCalls(postTo(worker));
  worker.onmessage = ({ data }) => settle(data as Response);
  await call("nothing");
  return { call, close: () => Promise.resolve(worker.terminate()) };
}

/** The three calls of `latency`. */
export const postMessage: LatencyContender = {
  name: "postMessage",
  async start() {
    const { call, close } = await startThread();
    return {
      echo: (value) => call("echo", value),
      nothing: () => call("nothing"),
      asyncNothing: () => call("asyncNothing"),
      close,
    };
  },
};

/** Any value, and memory along with its transfer list. `start` starts the kind of worker that is at its best on the runtime. */
export const postMessageEcho = (start: () => Promise<MessageCalls>): EchoContender => ({
  name: "postMessage",
  refuses: ({ route }) => route === "struct" ? "postMessage has no declared layouts" : undefined,
  async start(route) {
    const { call, close } = await start();
    return {
      echo: route === "move"
        ? (value) => call("echoMoved", value, [value as ArrayBuffer])
        : (value) => call("echo", value),
      close,
    };
  },
});

async function startThreads(threads: number) {
  const all = await Promise.all(Array.from({ length: threads }, startThread));
  return { all, close: () => Promise.all(all.map((each) => each.close())) };
}

/** They take turns. */
export const rawWorker: SpinContender = {
  name: "raw worker",
  async start(threads) {
    const { all, close } = await startThreads(threads);
    let next = 0;
    return { spin: (us) => all[next++ % threads]!.call("spin", us) as Promise<number>, close };
  },
};

/** What a careful programmer writes for the prime search: a message for each chunk, to the worker that has the fewest. */
export async function startPrimeWorkers(threads: number): Promise<PrimeWorkers> {
  const { all, close } = await startThreads(threads);
  const waiting = all.map(() => 0);
  return {
    async count(start, end) {
      const least = waiting.indexOf(Math.min(...waiting));
      waiting[least]!++;
      const found = await all[least]!.call("primes", [start, end]);
      waiting[least]!--;
      return found as number;
    },
    close,
  };
}

if (!isMainThread && workerData === MARK) {
  const post = postTo(parentPort!);
  parentPort!.on("message", (request: Request) => answer(request, post));
}
// A worker is named by whoever starts it; the main thread of Deno has no name.
if ((globalThis as { name?: string }).name === MARK) {
  globalThis.onmessage = ({ data }: MessageEvent<Request>) =>
    answer(data, (response, transfer = []) => globalThis.postMessage(response, { transfer }));
}
