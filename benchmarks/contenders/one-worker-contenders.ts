/**
 * Contenders with one worker. Libraries are imported when `load` is called, not before, and workers load plain
 * JavaScript: none waits for types to be stripped.
 */
import type { EchoCalls } from "./echo-contender.ts";
import { WEB_WORKER } from "../scenarios/cold-cases.ts";
import { NEVER_SPINNING } from "../scenarios/contended-cases.ts";
import { ADAPTER, WITH_TWO } from "../scenarios/hot-cases.ts";
import { KNITTING } from "./knitting.ts";
import type { OneWorkerContender } from "./one-worker.ts";

/** Room for a whole batch in the pools that hold calls back otherwise. */
const MAX_AT_ONCE = 100;

const tasks = new URL("./plain/tasks.mjs", import.meta.url).href;
const bareWorkerModule = new URL("./plain/bare-worker.mjs", import.meta.url);
const webWorkerModule = new URL("./plain/web-worker.mjs", import.meta.url);
const knittingModule = new URL("./plain/knitting.mjs", import.meta.url).href;

const heddleWith = (name: string, options: { readonly spinMs?: number }): OneWorkerContender => ({
  name,
  async load() {
    const { createPool, importTask } = await import("../../dist/mod.js");
    return {
      start() {
        const echo = importTask<(value: unknown) => unknown>({ href: tasks, name: "echo" });
        const pool = createPool({ threads: 1, ...options })({ echo });
        return { echo: pool.call.echo, close: () => pool.shutdown() };
      },
    };
  },
});

const heddle = heddleWith("heddle", {});

/** One message per call, one per answer, matched by number. */
function callThrough(
  worker: { postMessage(message: unknown): void; terminate(): unknown },
  onMessage: (listener: (answer: [number, unknown]) => void) => void,
): EchoCalls {
  const resolvers = new Map<number, (value: unknown) => void>();
  let nextId = 0;
  onMessage(([id, value]) => {
    resolvers.get(id)!(value);
    resolvers.delete(id);
  });
  return {
    echo: (value) =>
      new Promise((resolve) => {
        resolvers.set(nextId, resolve);
        worker.postMessage([nextId++, value]);
      }),
    close: async () => void await worker.terminate(),
  };
}

const bareWorker: OneWorkerContender = {
  name: "bare worker",
  async load() {
    const { Worker } = await import("node:worker_threads");
    return {
      start() {
        const worker = new Worker(bareWorkerModule);
        return callThrough(worker, (listener) => void worker.on("message", listener));
      },
    };
  },
};

/** Deno and Bun have both kinds. */
const webWorker: OneWorkerContender = {
  name: WEB_WORKER,
  load: () =>
    Promise.resolve({
      start() {
        const worker = new Worker(webWorkerModule, { type: "module" });
        return callThrough(worker, (listener) => {
          worker.onmessage = ({ data }) => listener(data as [number, unknown]);
        });
      },
    }),
};

interface TaskPool {
  run(value: unknown, options: { name: string }): Promise<unknown>;
  destroy(): Promise<unknown>;
}

const POOL_OPTIONS = {
  filename: tasks,
  minThreads: 1,
  maxThreads: 1,
  concurrentTasksPerWorker: MAX_AT_ONCE,
} as const;

const callsOf = (pool: TaskPool): EchoCalls => ({
  echo: (value) => pool.run(value, { name: "echo" }),
  close: () => pool.destroy(),
});

const piscina: OneWorkerContender = {
  name: "Piscina",
  async load() {
    const { Piscina } = await import("piscina");
    return { start: () => callsOf(new Piscina(POOL_OPTIONS)) };
  },
};

const tinypool: OneWorkerContender = {
  name: "Tinypool",
  async load() {
    const { Tinypool } = await import("tinypool");
    return { start: () => callsOf(new Tinypool(POOL_OPTIONS) as TaskPool) };
  },
};

/** As programs use them: one task at a time in a worker. */
const byDefault = (threads: number) =>
  ({ filename: tasks, minThreads: threads, maxThreads: threads }) as const;

const named = (name: string, threads: number): string =>
  threads === 1 ? name : `${name}, ${WITH_TWO}`;

const piscinaByDefault = (threads: number): OneWorkerContender => ({
  name: named("Piscina", threads),
  async load() {
    const { Piscina } = await import("piscina");
    return { start: () => callsOf(new Piscina(byDefault(threads))) };
  },
});

const adapter = (name: string, options: typeof POOL_OPTIONS | ReturnType<typeof byDefault>) => ({
  name,
  async load() {
    const { Piscina } = await import("../../dist/piscina.js");
    return { start: () => callsOf(new Piscina(options)) };
  },
});

const adapterByDefault = (threads: number): OneWorkerContender =>
  adapter(named(ADAPTER, threads), byDefault(threads));

interface KnittingStarter {
  start(createPool: unknown): EchoCalls;
}

const knitting: OneWorkerContender = {
  name: KNITTING,
  async load() {
    const { createPool } = await import(process.env["HEDDLE_PEER_KNITTING"]!) as {
      createPool: unknown;
    };
    const { start } = await import(knittingModule) as KnittingStarter;
    return { start: () => start(createPool) };
  },
};

export const ONE_WORKER_CONTENDERS: readonly OneWorkerContender[] = [
  heddle,
  bareWorker,
  piscina,
  tinypool,
  knitting,
];

/** Those of `contended`. */
export const CONTENDED_CONTENDERS: readonly OneWorkerContender[] = [
  ...ONE_WORKER_CONTENDERS,
  heddleWith(NEVER_SPINNING, { spinMs: 0 }),
];

/** Those of `cold` and `hot`. */
export const COLD_CONTENDERS: readonly OneWorkerContender[] = [
  ...ONE_WORKER_CONTENDERS,
  webWorker,
  adapter(ADAPTER, POOL_OPTIONS),
];

/** Those of `adapter`. */
export const ADAPTER_CONTENDERS: readonly OneWorkerContender[] = [
  heddle,
  ...[1, 2].flatMap((threads) => [adapterByDefault(threads), piscinaByDefault(threads)]),
];
