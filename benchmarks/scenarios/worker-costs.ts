/**
 * What workers cost in themselves: until one is started, its memory while it is idle, and messages to one that is
 * awake, by heddle and by `node:worker_threads`.
 */
import { Worker } from "node:worker_threads";
import { createPool } from "../../dist/mod.js";
import type { RoundSamples } from "../harness/child.ts";
import type { RoundGap } from "../harness/schema.ts";
import { sleep, US_PER_MS } from "../harness/clock.ts";
import * as programs from "./programs-cases.ts";

/** Some workers, all started. */
interface Workers {
  /** Sends numbers to the first worker and resolves when all are answered. */
  roundTrips(count: number): Promise<void>;
  /** The same with one answer to all of them; undefined where each message is answered. */
  oneWay?(count: number): Promise<void>;
  close(): Promise<unknown>;
}

type Start = (count: number) => Promise<Workers>;

const plain = (name: string): URL => new URL(`../contenders/plain/${name}.mjs`, import.meta.url);

interface EchoTasks {
  echo(value: number): number;
}

async function startHeddle(count: number): Promise<Workers> {
  const pool = createPool({ threads: count })<EchoTasks>(plain("tasks"));
  await pool.ready;
  return {
    async roundTrips(count) {
      const pending = new Array<Promise<number>>(count);
      for (let n = 0; n < count; n++) pending[n] = pool.call.echo(n + 0.5);
      await Promise.all(pending);
    },
    close: () => pool.shutdown(),
  };
}

/** Resolves when as many messages have arrived. */
const received = (worker: Worker, count: number): Promise<void> =>
  new Promise((resolve) => {
    let left = count;
    const listen = (): void => {
      if (--left > 0) return;
      worker.off("message", listen);
      resolve();
    };
    worker.on("message", listen);
  });

function post(worker: Worker, messages: number, answers: number): Promise<void> {
  const done = received(worker, answers);
  for (let n = 0; n < messages; n++) worker.postMessage(n + 0.5);
  if (answers < messages) worker.postMessage(true);
  return done;
}

async function startBare(count: number): Promise<Workers> {
  const start = async (module: string): Promise<Worker> => {
    const worker = new Worker(plain(module));
    const answered = received(worker, 1);
    worker.postMessage(true);
    await answered;
    return worker;
  };
  const workers = await Promise.all(Array.from({ length: count }, () => start("bare-worker")));
  let sink: Worker | undefined;
  return {
    roundTrips: (count) => post(workers[0]!, count, count),
    async oneWay(count) {
      sink ??= await start("sink-worker");
      await post(sink, count, 1);
    },
    close: () =>
      Promise.all(
        [...workers, ...(sink === undefined ? [] : [sink])].map((each) => each.terminate()),
      ),
  };
}

const BYTES_PER_MIB = 2 ** 20;
const NS_PER_MS = 1e6;
const MANY_WORKERS = 16;
const SETTLE_MS = 500;

/** MiB that each of many workers adds, beside one that has been started before. */
async function measureMemory(start: Start): Promise<number> {
  const one = await start(1);
  await sleep(SETTLE_MS);
  const before = process.memoryUsage().rss;
  const many = await start(MANY_WORKERS);
  await sleep(SETTLE_MS);
  const bytes = process.memoryUsage().rss - before;
  await many.close();
  await one.close();
  return bytes / MANY_WORKERS / BYTES_PER_MIB;
}

/** Microseconds until a worker has been started, one after the other. */
async function measureStarts(start: Start, count: number): Promise<number[]> {
  const samples: number[] = [];
  for (let n = 0; n < count; n++) {
    const startedMs = performance.now();
    const workers = await start(1);
    samples.push((performance.now() - startedMs) * US_PER_MS);
    await workers.close();
  }
  return samples;
}

/** Nanoseconds per message; the first half of the batches warms up. */
async function measureMessages(
  send: (count: number) => Promise<void>,
  messages: number,
  batches: number,
): Promise<number[]> {
  const samples: number[] = [];
  for (let n = 0; n < 2 * batches; n++) {
    const startedMs = performance.now();
    await send(messages);
    if (n >= batches) samples.push((performance.now() - startedMs) * NS_PER_MS / messages);
  }
  return samples;
}

/** All figures of one kind of worker. */
export async function measureWorkers(
  contender: typeof programs.HEDDLE | typeof programs.BARE_WORKER,
  isQuick: boolean,
): Promise<(RoundSamples | RoundGap)[]> {
  const start = contender === programs.HEDDLE ? startHeddle : startBare;
  const memory = await measureMemory(start);
  const starts = await measureStarts(start, isQuick ? 3 : 20);
  const workers = await start(1);
  const batches = isQuick ? 5 : 200;
  const roundTrips = await measureMessages(
    (count) => workers.roundTrips(count),
    programs.IN_FLIGHT,
    batches,
  );
  const oneWay = { contender, case: programs.ONE_WAY, size: programs.IN_FLIGHT } as const;
  const oneWayLine: RoundSamples | RoundGap = workers.oneWay === undefined
    ? { ...oneWay, reason: "every call is answered", isSkipped: true }
    : {
      ...oneWay,
      unit: "ns",
      samples: await measureMessages(
        (count) => workers.oneWay!(count),
        programs.IN_FLIGHT,
        batches,
      ),
    };
  await workers.close();
  return [
    { contender, case: programs.WORKER_START, size: 1, unit: "µs", samples: starts },
    { contender, case: programs.WORKER_MEMORY, size: MANY_WORKERS, unit: "MiB", samples: [memory] },
    {
      contender,
      case: programs.ROUND_TRIP,
      size: programs.IN_FLIGHT,
      unit: "ns",
      samples: roundTrips,
    },
    oneWayLine,
  ];
}
