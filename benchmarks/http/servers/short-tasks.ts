/** Servers whose main thread listens and runs a short task elsewhere for each request, by the pool that does so. */
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { createPool } from "../../../dist/mod.js";
import { SHORT_TASK_POOLS, type ShortTaskPool } from "../../scenarios/http-cases.ts";
import { type Listening, TEXT } from "../routes.ts";
import { listen } from "./listen.ts";

interface Pool {
  run(text: string): Promise<string>;
  close(): Promise<unknown>;
}

const tasks = new URL("./hash.ts", import.meta.url);

function startHeddle(options: { readonly threads: number; readonly spinMs?: number }): Pool {
  const pool = createPool(options)<typeof import("./hash.ts")>(tasks);
  return { run: (text) => pool.call.hash(text), close: () => pool.shutdown() };
}

/** Each in turn gets a message. */
function startWorkers(threads: number): Pool {
  const resolvers = new Map<number, (found: string) => void>();
  let nextId = 0;
  const workers = Array.from({ length: threads }, () => {
    const worker = new Worker(new URL("./hash-worker.ts", import.meta.url));
    worker.on("message", ([id, found]: [number, string]) => {
      resolvers.get(id)!(found);
      resolvers.delete(id);
    });
    return worker;
  });
  return {
    run: (text) =>
      new Promise((resolve) => {
        const id = nextId++;
        resolvers.set(id, resolve);
        workers[id % threads]!.postMessage([id, text]);
      }),
    close: () => Promise.all(workers.map((worker) => worker.terminate())),
  };
}

/** As published or as the adapter has it, with its defaults. */
async function startPiscina(module: string, threads: number): Promise<Pool> {
  const { Piscina } = await import(module) as typeof import("piscina");
  const pool = new Piscina({
    filename: fileURLToPath(tasks),
    minThreads: threads,
    maxThreads: threads,
  });
  return {
    run: (text) => pool.run(text) as Promise<string>,
    close: () => pool.destroy(),
  };
}

const POOLS: Readonly<Record<ShortTaskPool, (threads: number) => Pool | Promise<Pool>>> = {
  [SHORT_TASK_POOLS.heddle]: (threads) => startHeddle({ threads }),
  [SHORT_TASK_POOLS.neverSpinning]: (threads) => startHeddle({ threads, spinMs: 0 }),
  [SHORT_TASK_POOLS.adapter]: (threads) => startPiscina("@heddle/piscina", threads),
  [SHORT_TASK_POOLS.bareWorkers]: startWorkers,
  [SHORT_TASK_POOLS.piscina]: (threads) => startPiscina("piscina", threads),
};

export async function listenShortTasks(name: string, threads: number): Promise<Listening> {
  const pool = await POOLS[name as ShortTaskPool](threads);
  await pool.run(TEXT);
  const server = await listen({ port: 0, reusePort: false }, {
    who: "main",
    heavy: () => pool.run(TEXT),
  });
  const close = async (): Promise<void> => {
    await server.close();
    await pool.close();
  };
  return { port: server.port, close };
}
