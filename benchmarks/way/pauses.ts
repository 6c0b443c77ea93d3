/**
 * `npm run bench:pauses`: one call after a pause, several ways in turn in one process, so that a slow moment of the machine
 * hits all of them alike. Prints the p50, p90 and p99 of each way in µs, and heddle's as ratios to a bare worker's.
 *
 *   heddle  the built package
 *   bare    postMessage to a worker and back
 *   port    one number through shared memory; both sides are woken by an empty message
 *   wait    the same; the worker blocks in Atomics.wait, and the host is woken by a message
 *
 * `port` and `wait` are what a ring with hardly any code around it costs.
 */
import process from "node:process";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { createPool } from "../../dist/mod.js";

export const echo = (value: number): number => value;

const PAUSES_MS = [1, 3, 10, 40];
const WARM_UP = 1000;
const REQUEST = 0;
const RESPONSE = 16;
const ARGUMENT = 4;
const RESULT = 5;

type Way = (value: number) => Promise<unknown>;

interface FloorData {
  readonly way: "bare" | "port" | "wait";
  readonly memory: SharedArrayBuffer;
}

function serve({ way, memory }: FloorData): void {
  const port = parentPort!;
  if (way === "bare") {
    port.on("message", (message) => port.postMessage(message));
    return;
  }
  const words = new Int32Array(memory);
  const values = new Float64Array(memory);
  let seen = 0;
  const respond = (): void => {
    const sent = Atomics.load(words, REQUEST);
    if (sent === seen) return;
    seen = sent;
    values[RESULT] = values[ARGUMENT]!;
    Atomics.store(words, RESPONSE, sent);
    port.postMessage(null);
  };
  if (way === "port") port.on("message", respond);
  else {
    for (;;) {
      Atomics.wait(words, REQUEST, seen);
      respond();
    }
  }
}

function start(data: FloorData): Worker {
  return new Worker(new URL(import.meta.url), { workerData: data });
}

function bare(): Way {
  const worker = start({ way: "bare", memory: new SharedArrayBuffer(8) });
  const pending = new Map<number, (value: unknown) => void>();
  let id = 0;
  worker.on("message", ([key, value]: [number, unknown]) => {
    pending.get(key)!(value);
    pending.delete(key);
  });
  return (value) =>
    new Promise((resolve) => {
      pending.set(++id, resolve);
      worker.postMessage([id, value]);
    });
}

function ring(way: "port" | "wait"): Way {
  const memory = new SharedArrayBuffer(4096);
  const words = new Int32Array(memory);
  const values = new Float64Array(memory);
  const worker = start({ way, memory });
  let settle: ((value: unknown) => void) | undefined;
  let sent = 0;
  worker.on("message", () => {
    if (Atomics.load(words, RESPONSE) !== sent) return;
    const done = settle;
    settle = undefined;
    done?.(values[RESULT]);
  });
  return (value) =>
    new Promise((resolve) => {
      settle = resolve;
      values[ARGUMENT] = value;
      Atomics.store(words, REQUEST, ++sent);
      if (way === "port") worker.postMessage(null);
      else Atomics.notify(words, REQUEST);
    });
}

function quantile(times: readonly number[], share: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * share)]!;
}

async function measure(): Promise<void> {
  const pool = createPool({ threads: 1 })({ echo });
  const ways: Readonly<Record<string, Way>> = {
    heddle: pool.call.echo,
    bare: bare(),
    port: ring("port"),
    wait: ring("wait"),
  };
  const names = Object.keys(ways);
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  await pause(300);
  for (let call = 0; call < WARM_UP; call++) for (const name of names) await ways[name]!(call);
  for (const pauseMs of PAUSES_MS) {
    const rounds = pauseMs < 10 ? 300 : pauseMs < 40 ? 100 : 40;
    const times = Object.fromEntries(names.map((name) => [name, [] as number[]]));
    for (let round = 0; round < rounds; round++) {
      for (let turn = 0; turn < names.length; turn++) {
        const name = names[(turn + round) % names.length]!;
        await pause(pauseMs);
        const begin = performance.now();
        await ways[name]!(round);
        times[name]!.push((performance.now() - begin) * 1e3);
      }
    }
    const at = (name: string, share: number): number => quantile(times[name]!, share);
    const row = names.map((name) =>
      `${name} ${[0.5, 0.9, 0.99].map((share) => at(name, share).toFixed(0)).join("/")}`
    );
    const ratios = [0.5, 0.9, 0.99].map((share) =>
      (at("heddle", share) / at("bare", share)).toFixed(2)
    );
    console.log(`every ${pauseMs} ms: ${row.join("  ")}  heddle ÷ bare ${ratios.join("/")}`);
  }
  process.exit(0);
}

const data = workerData as FloorData | undefined;
if (data?.way !== undefined) serve(data);
else if (isMainThread) await measure();
