/** The page of `browser`: all contenders, in turn, with one worker each. */
import { wrap } from "comlink";
import { createPool, type PoolOptions } from "heddle/browser";
import workerpool from "workerpool";
import * as browser from "../scenarios/browser-cases.ts";
import type * as tasks from "./tasks.ts";

interface Caller {
  call(value: unknown): Promise<unknown>;
  close(): unknown;
}

const start = (name: string): Worker => new Worker(`/${name}.js`, { type: "module" });

function heddle(transport: NonNullable<PoolOptions["transport"]>): Caller {
  const pool = createPool({ threads: 1, transport })<typeof tasks>(() => start("heddle-worker"));
  return { call: pool.call.echo, close: () => pool.shutdown() };
}

function bare(): Caller {
  const worker = start("bare-worker");
  const waiting = new Map<number, (value: unknown) => void>();
  let last = 0;
  worker.addEventListener("message", ({ data: [id, value] }: MessageEvent<[number, unknown]>) => {
    waiting.get(id)!(value);
    waiting.delete(id);
  });
  return {
    call: (value) =>
      new Promise((resolve) => {
        waiting.set(++last, resolve);
        worker.postMessage([last, value]);
      }),
    close: () => worker.terminate(),
  };
}

function comlink(): Caller {
  const worker = start("comlink-worker");
  const { echo } = wrap<typeof tasks>(worker);
  return { call: (value) => echo(value) as Promise<unknown>, close: () => worker.terminate() };
}

function ofWorkerpool(): Caller {
  const pool = workerpool.pool("/workerpool-worker.js", {
    maxWorkers: 1,
    workerOpts: { type: "module" },
  });
  return { call: (value) => pool.exec("echo", [value]), close: () => pool.terminate(true) };
}

const CALLERS: Readonly<Record<browser.BrowserContender, () => Caller>> = {
  [browser.SHARED]: () => heddle("shared"),
  [browser.MESSAGES]: () => heddle("messages"),
  [browser.BARE]: bare,
  [browser.COMLINK]: comlink,
  [browser.WORKERPOOL]: ofWorkerpool,
};

const VALUES: Readonly<Record<string, (n: number) => unknown>> = {
  [browser.NUMBER]: (n) => n + 0.5,
  [browser.OBJECT]: (n) => ({
    id: n,
    name: `customer ${n}`,
    isActive: true,
    balance: n / 7,
    tags: ["new", "large", "abroad"],
    address: { street: "Long Street 17", city: "Bergen", zip: "5003" },
  }),
  [browser.BYTES]: (n) => new Uint8Array(65_536).fill(n),
};

/** A block takes some milliseconds, and begins after a pause: the other contenders had their turns. */
const BLOCK_CALLS: Readonly<Record<string, number>> = {
  [browser.NUMBER]: 1000,
  [browser.OBJECT]: 500,
  [browser.BYTES]: 50,
};
/** Calls with a pause before each. */
const PAUSED_CALLS = 8;
const PAUSE_MS = 5;

/** Microseconds a call. */
async function timeBlock(caller: Caller, kind: string, atOnce: number): Promise<number> {
  const rounds = Math.max(1, Math.round(BLOCK_CALLS[kind]! / atOnce));
  const make = VALUES[kind]!;
  const values = Array.from({ length: atOnce }, (_, n) => make(n));
  const startMs = performance.now();
  for (let round = 0; round < rounds; round++) {
    if (atOnce === 1) await caller.call(values[0]);
    else await Promise.all(values.map((value) => caller.call(value)));
  }
  return (performance.now() - startMs) * 1000 / (rounds * atOnce);
}

/** Microseconds a call, without the pauses. */
async function timePaused(caller: Caller): Promise<number> {
  let ms = 0;
  for (let call = 0; call < PAUSED_CALLS; call++) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    const startMs = performance.now();
    await caller.call(call);
    ms += performance.now() - startMs;
  }
  return ms * 1000 / PAUSED_CALLS;
}

async function timeFirst(create: () => Caller): Promise<number> {
  const startMs = performance.now();
  const caller = create();
  if (await caller.call(1) !== 1) throw new Error("The first answer is wrong.");
  const us = (performance.now() - startMs) * 1000;
  await caller.close();
  return us;
}

export interface PageSample {
  readonly contender: string;
  readonly case: string;
  readonly size: number;
  readonly us: number;
}

/** Takes a sample of each figure in each turn, after turns that warm up. The order of contenders rotates. */
async function measure(turns: number, warmUpTurns: number): Promise<PageSample[]> {
  const names = Object.keys(CALLERS) as browser.BrowserContender[];
  const callers = new Map(names.map((name) => [name, CALLERS[name]()]));
  const samples: PageSample[] = [];
  for (let turn = -warmUpTurns; turn < turns; turn++) {
    const order = names.map((_, index) => names[(index + turn + warmUpTurns) % names.length]!);
    for (const [kind, counts] of Object.entries(browser.AT_ONCE)) {
      for (const size of counts) {
        for (const contender of order) {
          const us = await timeBlock(callers.get(contender)!, kind, size);
          if (turn >= 0) samples.push({ contender, case: kind, size, us });
        }
      }
    }
    for (const contender of order) {
      const us = await timePaused(callers.get(contender)!);
      if (turn >= 0) samples.push({ contender, case: browser.PAUSED, size: 1, us });
    }
    if (turn < 0) continue;
    for (const contender of order) {
      const us = await timeFirst(CALLERS[contender]);
      samples.push({ contender, case: browser.FIRST, size: 1, us });
    }
  }
  return samples;
}

declare global {
  var measureCalls: typeof measure;
}
globalThis.measureCalls = measure;
