/** Contenders of `everyday`: each runs the tasks of `plain/work.mjs` in some workers. Libraries are imported when they start. */
import { NO_WORKER } from "../scenarios/everyday-cases.ts";

/** Some workers that are starting. */
export interface Working {
  /** Resolves when all have started. */
  readonly ready: Promise<unknown>;
  /** Results of a task for each of these values, which the workers share. */
  run(task: "spin" | "toHtml", values: readonly unknown[]): Promise<unknown[]>;
  close(): Promise<unknown>;
}

export interface EverydayContender {
  readonly name: string;
  start(threads: number): Promise<Working>;
}

const plain = (name: string): URL => new URL(`./plain/${name}.mjs`, import.meta.url);

interface Tasks {
  spin(ms: number): number;
  toHtml(path: string): Promise<number>;
}

const heddle: EverydayContender = {
  name: "heddle",
  async start(threads) {
    const { createPool } = await import("../../dist/mod.js");
    const pool = createPool({ threads })<Tasks>(plain("work"));
    return {
      ready: pool.ready,
      run: (task, values) =>
        Promise.all(values.map((value) => (pool.call[task] as (value: unknown) => unknown)(value))),
      close: () => pool.shutdown(),
    };
  },
};

/** Each worker gets its part of the values by one message. */
const bareWorker: EverydayContender = {
  name: "bare worker",
  async start(threads) {
    const { Worker } = await import("node:worker_threads");
    const workers = Array.from({ length: threads }, () => new Worker(plain("bare-work")));
    const ask = (worker: typeof workers[number], message: unknown): Promise<unknown[]> =>
      new Promise((resolve) => {
        worker.once("message", resolve);
        worker.postMessage(message);
      });
    return {
      get ready() {
        return Promise.all(workers.map((worker) => ask(worker, ["spin", []])));
      },
      async run(task, values) {
        const parts = workers.map((_, at) => values.filter((_, n) => n % threads === at));
        const results = await Promise.all(
          workers.map((worker, at) => ask(worker, [task, parts[at]])),
        );
        return results.flat();
      },
      close: () => Promise.all(workers.map((worker) => worker.terminate())),
    };
  },
};

/** Its workers load the tasks when they start. */
const PISCINA_START_MS = 1000;

const piscina: EverydayContender = {
  name: "Piscina",
  async start(threads) {
    const { Piscina } = await import("piscina");
    const options = { filename: plain("work").href, minThreads: threads, maxThreads: threads };
    const pool = new Piscina(options);
    return {
      get ready() {
        return new Promise((resolve) => setTimeout(resolve, PISCINA_START_MS));
      },
      run: (name, values) => Promise.all(values.map((value) => pool.run(value, { name }))),
      close: () => pool.destroy(),
    };
  },
};

const noWorker: EverydayContender = {
  name: NO_WORKER,
  async start() {
    const tasks = await import(plain("work").href) as Tasks;
    return {
      ready: Promise.resolve(),
      async run(task, values) {
        const results: unknown[] = [];
        for (const value of values) results.push(await tasks[task](value as never));
        return results;
      },
      close: () => Promise.resolve(),
    };
  },
};

export const EVERYDAY_CONTENDERS: readonly EverydayContender[] = [
  heddle,
  bareWorker,
  piscina,
  noWorker,
];
