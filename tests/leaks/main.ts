/**
 * What must not grow: threads, file descriptors and memory over the lives of many pools and workers, and over
 * many calls that end in other ways than by an answer. `node tests/leaks/main.ts [--scale N] [--only NAME]`; prints
 * a line of JSON for each part, ends with 1 if something has grown.
 *
 * Runtimes return the memory of workers late, or leak it themselves: pools and deaths are compared with as many
 * bare workers in the same run.
 */
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { isMain, type PoolOptions } from "../../src/mod.ts";
import { createLeakModulePool, createLeakPool } from "../fixtures/leak-tasks.ts";
import { pause } from "../support/runtime.ts";

const MIB = 2 ** 20;
/** What a runtime may take for itself at any time: caches, a collection that is due. */
const SLACK_MIB = 48;
/** Worker threads have to be gone so soon. */
const GONE_MS = 5000;

interface Usage {
  readonly rssMiB: number;
  readonly threads: number;
  readonly files: number;
}

const list = (path: string): string[] => {
  try {
    return readdirSync(path);
  } catch {
    return []; // the system does not tell
  }
};

const nameOf = (task: string): string => {
  try {
    return readFileSync(`/proc/self/task/${task}/comm`, "utf8").trim();
  } catch {
    return "";
  }
};

/** Worker threads of this process, by the names that runtimes give them. */
const workerThreads = (): number =>
  list("/proc/self/task").filter((task) => /^(heddle|worker)-\d+$/i.test(nameOf(task))).length;

/** `open`: worker threads of the pool that is measured. */
async function usage(open: number): Promise<Usage> {
  const endMs = performance.now() + GONE_MS;
  while (workerThreads() > open && performance.now() < endMs) await pause(20);
  (globalThis as { gc?: () => void }).gc?.();
  await pause(200);
  return {
    rssMiB: Math.round(process.memoryUsage().rss / MIB),
    threads: workerThreads(),
    files: list("/proc/self/fd").length,
  };
}

/** Runs `step` so often, and tells the usage after a fifth, when everything is warm, and at the end. */
async function grow(
  times: number,
  step: (n: number) => Promise<void>,
  open = 0,
): Promise<[Usage, Usage]> {
  const warm = Math.ceil(times / 5);
  for (let n = 0; n < warm; n++) await step(n);
  const before = await usage(open);
  for (let n = warm; n < times; n++) await step(n);
  return [before, await usage(open)];
}

const BARE = new URL("../fixtures/bare-worker.ts", import.meta.url);

/** A worker without heddle, which ends as told. */
async function bareWorker(how: "closed" | "exits"): Promise<void> {
  const worker = new Worker(BARE, { workerData: how });
  const gone = new Promise((resolve) => worker.on("exit", resolve));
  await new Promise((resolve) => worker.on("message", resolve));
  if (how === "closed") worker.postMessage("leave");
  await gone;
}

interface Part {
  readonly times: number;
  readonly run: (times: number) => Promise<[Usage, Usage]>;
  /** The same with bare workers, for parts about workers. */
  readonly bare?: (times: number) => Promise<[Usage, Usage]>;
}

type LeakPool = ReturnType<typeof createLeakPool>;
type Calls = LeakPool["call"];

/** Steps that call one pool. */
async function growWithPool(
  times: number,
  step: (call: Calls, pool: LeakPool) => Promise<void>,
  options: PoolOptions = {},
): Promise<[Usage, Usage]> {
  const pool = createLeakPool(options);
  await pool.ready;
  const [before] = await grow(times, () => step(pool.call, pool), 1);
  const { inFlight, queued } = pool.stats();
  if (inFlight + queued !== 0) throw new Error(`${inFlight} calls in flight, ${queued} queued`);
  const { rssMiB } = await usage(1);
  await pool.shutdown();
  // Its own worker must be gone as well.
  return [{ ...before, threads: 0 }, { ...await usage(0), rssMiB }];
}

const parts: Readonly<Record<string, Part>> = {
  pools: {
    times: 1000,
    run: (times) =>
      grow(times, async (n) => {
        const pool = createLeakPool();
        if (await pool.call.echo(n) !== n) throw new Error("another answer");
        await pool.shutdown();
      }),
    bare: (times) => grow(times, () => bareWorker("closed")),
  },
  modules: {
    times: 500,
    run: (times) =>
      grow(times, async (n) => {
        const pool = createLeakModulePool();
        if (await pool.call.echo(n) !== n) throw new Error("another answer");
        await pool.shutdown();
      }),
    bare: (times) => grow(times, () => bareWorker("closed")),
  },
  deaths: {
    times: 200,
    run: (times) =>
      growWithPool(times, async (call) => {
        await call.exit(1).catch(() => {});
        await call.echo(1);
      }),
    bare: (times) => grow(times, () => bareWorker("exits")),
  },
  /** Their files and pipes end with them. */
  processes: {
    times: 1000,
    run: (times) =>
      growWithPool(times, async (call) => {
        await call.exit(1).catch(() => {});
        await call.echo(1);
      }, { workers: "processes" }),
  },
  /** A thousand calls in each step, here and below, or so. */
  rejected: {
    times: 1000,
    run: (times) =>
      growWithPool(times, async (call) => {
        await Promise.allSettled(Array.from({ length: 1000 }, () => call.fail("no")));
      }),
  },
  /** A hundred in each step. The resident memory of Node and Deno grows over the first 80,000, their heaps do not. */
  objects: {
    times: 2000,
    run: (times) => {
      const url = new URL("../fixtures/leak-tasks.ts", import.meta.url);
      type Module = typeof import("../fixtures/leak-tasks.ts");
      return growWithPool(times, async (_call, pool) => {
        const { Small } = pool.spawn<Module>(url);
        const made = await Promise.all(Array.from({ length: 100 }, () => Small()));
        const sizes = await Promise.all(made.map((each) => each.size()));
        if (sizes.some((size) => size !== 1000)) throw new Error("another answer");
        await Promise.all(made.map((each) => each.$release()));
      });
    },
  },
  payloads: {
    times: 6250,
    run: (times) => {
      const bytes = new Uint8Array(100_000).fill(7);
      return growWithPool(times, async (call) => {
        const all = await Promise.all(Array.from({ length: 16 }, () => call.echo(bytes)));
        if ((all[15] as Uint8Array).length !== bytes.length) throw new Error("another answer");
      });
    },
  },
  aborted: {
    times: 10_000,
    run: (times) => growWithPool(times, abortThousand),
  },
};

/** Half of them by signals of their own, before or while they run; the rest by one for all. */
async function abortThousand(call: Calls): Promise<void> {
  const shared = new AbortController();
  const calls: Promise<unknown>[] = [];
  for (let n = 0; n < 1000; n++) {
    const controller = n % 2 === 0 ? shared : new AbortController();
    calls.push(call.echo.with({ signal: controller.signal })(n));
    if (n % 4 === 1) controller.abort();
    else if (n % 4 === 3) queueMicrotask(() => controller.abort());
  }
  shared.abort();
  await Promise.allSettled(calls);
  // Nothing above waits for a worker. A host whose event loop never turns takes no answers after a millisecond, and what
  // was given up stays until the ring is full of it: 131,072 calls, which is a bound, but looks like growth.
  await pause(0);
}

const growth = ([before, after]: [Usage, Usage]): number => after.rssMiB - before.rssMiB;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { scale: { type: "string", default: "1" }, only: { type: "string" } },
  });
  let isFailed = false;
  for (const [name, { times, run, bare }] of Object.entries(parts)) {
    if (values.only !== undefined && values.only !== name) continue;
    const scaled = Math.max(5, Math.round(times * Number(values.scale)));
    const bareGrowthMiB = bare === undefined ? 0 : Math.max(0, growth(await bare(scaled)));
    const result = await run(scaled);
    const [before, after] = result;
    const faults: string[] = [];
    if (growth(result) > bareGrowthMiB * 1.2 + SLACK_MIB) faults.push("memory has grown");
    if (after.threads > before.threads) faults.push("threads are left");
    if (after.files > before.files) faults.push("files are left open");
    console.log(
      JSON.stringify({ part: name, times: scaled, before, after, bareGrowthMiB, faults }),
    );
    if (faults.length > 0) isFailed = true;
  }
  process.exit(isFailed ? 1 : 0);
}

if (isMain) await main();
