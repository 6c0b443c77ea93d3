/**
 * Contenders with one worker. Libraries are imported when they are started, not before, and workers load plain
 * JavaScript: none waits for types to be stripped.
 */
import { fileURLToPath } from "node:url";
import { WEB_WORKER } from "../scenarios/cold-cases.ts";
import { NEVER_SPINNING } from "../scenarios/contended-cases.ts";
import { ADAPTER, WITH_TWO } from "../scenarios/hot-cases.ts";
import { callsByNumber } from "./calls-by-number.ts";
import type {
  Echo,
  EchoCalls,
  EchoContender,
  LatencyContender,
  OneWorkerContender,
} from "./types.ts";
import { copiesOnly } from "./types.ts";

const plain = (name: string): URL => new URL(`./plain/${name}.mjs`, import.meta.url);
const tasks = plain("tasks").href;

const heddleWith = (name: string, options: { readonly spinMs?: number }): OneWorkerContender => ({
  name,
  async load() {
    const { createPool, importTask } = await import("../../dist/mod.js");
    return () => {
      const echo = importTask<(value: unknown) => unknown>({ href: tasks, name: "echo" });
      const pool = createPool({ threads: 1, ...options })({ echo });
      return { echo: pool.call.echo, close: () => pool.shutdown() };
    };
  },
});

const heddle = heddleWith("heddle", {});

function callThrough(
  worker: { postMessage(message: unknown): void; terminate(): unknown },
  onMessage: (listener: (answer: [number, unknown]) => void) => void,
): EchoCalls {
  const { call, settle } = callsByNumber((id, value: unknown) => worker.postMessage([id, value]));
  onMessage(settle);
  return { echo: call, close: async () => void await worker.terminate() };
}

const bareWorker: OneWorkerContender = {
  name: "bare worker",
  async load() {
    const { Worker } = await import("node:worker_threads");
    return () => {
      const worker = new Worker(plain("bare-worker"));
      return callThrough(worker, (listener) => void worker.on("message", listener));
    };
  },
};

/** Deno and Bun have both kinds. */
const webWorker: OneWorkerContender = {
  name: WEB_WORKER,
  load: () =>
    Promise.resolve(() => {
      const worker = new Worker(plain("web-worker"), { type: "module" });
      return callThrough(worker, (listener) => {
        worker.onmessage = ({ data }) => listener(data as [number, unknown]);
      });
    }),
};

interface TaskPool {
  run(value: unknown, options: { name: string }): Promise<unknown>;
  destroy(): Promise<unknown>;
}

/** With room for a whole batch, or as programs use them: one task at a time in a worker. */
const optionsOf = (threads: number, atOnce?: number) => ({
  filename: tasks,
  minThreads: threads,
  maxThreads: threads,
  ...(atOnce === undefined ? {} : { concurrentTasksPerWorker: atOnce }),
});
type PoolOptions = ReturnType<typeof optionsOf>;

/** Classes with the interface of Piscina, and where they come from. */
const PISCINAS = {
  "Piscina": async () => (await import("piscina")).Piscina,
  "Tinypool": async () => (await import("tinypool")).Tinypool,
  [ADAPTER]: async () => (await import("@heddle/piscina")).Piscina,
} as const;

type PoolClass = new (options: PoolOptions) => TaskPool;

const callsOf = (pool: TaskPool): EchoCalls => ({
  echo: (value) => pool.run(value, { name: "echo" }),
  close: () => pool.destroy(),
});

const MAX_AT_ONCE = 100;

const like = (
  library: keyof typeof PISCINAS,
  options: PoolOptions = optionsOf(1, MAX_AT_ONCE),
  name: string = library,
): OneWorkerContender => ({
  name,
  async load() {
    const Pool = await PISCINAS[library]() as PoolClass;
    return () => callsOf(new Pool(options));
  },
});

const byDefault = (library: keyof typeof PISCINAS, threads: number): OneWorkerContender =>
  like(library, optionsOf(threads), threads === 1 ? library : `${library}, ${WITH_TWO}`);

const knitting: OneWorkerContender = {
  name: "Knitting",
  async load() {
    const { createPool } = await import(process.env["HEDDLE_PEER_KNITTING"]!) as {
      createPool: unknown;
    };
    const { start } = await import(plain("knitting").href) as {
      start(createPool: unknown): EchoCalls;
    };
    return () => start(createPool);
  },
};

export const ONE_WORKER_CONTENDERS: readonly OneWorkerContender[] = [
  heddle,
  bareWorker,
  like("Piscina"),
  like("Tinypool"),
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
  like(ADAPTER),
];

/** Those of `adapter`. */
export const ADAPTER_CONTENDERS: readonly OneWorkerContender[] = [
  heddle,
  ...[1, 2].flatMap((threads) => [byDefault(ADAPTER, threads), byDefault("Piscina", threads)]),
];

/** For `latency`, with room for its largest batch. */
export const piscina: LatencyContender = {
  name: "Piscina",
  async start() {
    const Pool = await PISCINAS.Piscina() as PoolClass;
    const pool = new Pool(optionsOf(1, 1000));
    await pool.run(0, { name: "echo" });
    return {
      ...callsOf(pool),
      nothing: () => pool.run(undefined, { name: "nothing" }),
      asyncNothing: () => pool.run(undefined, { name: "asyncNothing" }),
    };
  },
};

const MAX_TO_CLOSE_MS = 1000;
const path = (name: string): string => fileURLToPath(plain(name));

const echoOf = (library: "Piscina" | "Tinypool") => async (): Promise<EchoCalls> =>
  (await like(library).load())();

/** Each with one worker and room for a whole batch: any value there and back by structured clone. */
const ECHOES: Readonly<Record<string, () => Promise<EchoCalls>>> = {
  "Piscina": echoOf("Piscina"),
  "Tinypool": echoOf("Tinypool"),
  async workerpool() {
    const { default: workerpool } = await import("workerpool");
    const pool = workerpool.pool(path("workerpool-worker"), {
      minWorkers: 1,
      maxWorkers: 1,
      workerType: "thread",
    });
    const echo = (value: unknown) => pool.exec("echo", [value]) as unknown as Promise<unknown>;
    return { echo, close: () => Promise.resolve(pool.terminate()) };
  },
  async Poolifier() {
    const { FixedThreadPool } = await import("poolifier");
    const pool = new FixedThreadPool<unknown, unknown>(1, path("poolifier-worker"));
    const late = () => new Promise((resolve) => setTimeout(resolve, MAX_TO_CLOSE_MS));
    return {
      echo: (value) => pool.execute(value),
      // In one of twenty runs on Node its promise never settles, and Node ends a process that waits for nothing else.
      close: () => Promise.race([pool.destroy(), late()]),
    };
  },
  async comlink() {
    const { Worker } = await import("node:worker_threads");
    const { wrap } = await import("comlink");
    const { default: nodeEndpoint } = await import("comlink/dist/esm/node-adapter.mjs");
    const worker = new Worker(plain("comlink-worker"));
    const echo = wrap<(value: unknown) => unknown>(nodeEndpoint(worker)) as Echo;
    return { echo, close: () => worker.terminate() };
  },
  /** Blocks the caller for each message: a batch is one after the other. */
  async synckit() {
    const { createSyncFn } = await import("synckit");
    const call = createSyncFn<(value: unknown) => Promise<unknown>>(path("synckit-worker"));
    return { echo: (value) => Promise.resolve(call(value)), close: () => Promise.resolve() };
  },
};

/** Worker pools and proxies of others; `reasons`: by name, why one does not run here. */
export const others = (reasons: Readonly<Record<string, string>>): readonly EchoContender[] =>
  Object.entries(ECHOES).map(([name, start]) => ({
    name,
    refuses: (kind) => reasons[name] ?? copiesOnly(name)(kind),
    async start() {
      const calls = await start();
      await calls.echo(0);
      return calls;
    },
  }));
