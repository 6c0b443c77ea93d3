/** Worker pools and proxies of others, each with one worker and room for a whole batch: any value there and back. */
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { wrap } from "comlink";
import nodeEndpoint from "comlink/dist/esm/node-adapter.mjs";
import { Piscina } from "piscina";
import { FixedThreadPool } from "poolifier";
import { createSyncFn } from "synckit";
import { Tinypool } from "tinypool";
import workerpool from "workerpool";
import type { EchoCalls, EchoContender } from "./echo-contender.ts";

const MAX_AT_ONCE = 100;
const MAX_TO_CLOSE_MS = 1000;

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** By structured clone, without declared layouts and transfer lists. */
const byClone = (name: string, start: () => Promise<EchoCalls>): EchoContender => ({
  name,
  refuses: ({ route }) => route === "copy" ? undefined : `${name} is compared by copies only`,
  start,
});

const piscinaEcho = byClone("Piscina", async () => {
  const pool = new Piscina({
    filename: new URL("./piscina-tasks.ts", import.meta.url).href,
    minThreads: 1,
    maxThreads: 1,
    concurrentTasksPerWorker: MAX_AT_ONCE,
  });
  const echo = (value: unknown) => pool.run(value, { name: "echo" });
  await echo(0);
  return { echo, close: () => pool.destroy() };
});

const tinypoolEcho = byClone("Tinypool", async () => {
  const pool = new Tinypool({
    filename: new URL("./piscina-tasks.ts", import.meta.url).href,
    minThreads: 1,
    maxThreads: 1,
    concurrentTasksPerWorker: MAX_AT_ONCE,
  });
  const echo = (value: unknown) => pool.run(value, { name: "echo" }) as Promise<unknown>;
  await echo(0);
  return { echo, close: () => pool.destroy() };
});

const workerpoolEcho = byClone("workerpool", async () => {
  const pool = workerpool.pool(file("./workerpool-worker.ts"), {
    minWorkers: 1,
    maxWorkers: 1,
    workerType: "thread",
  });
  const echo = (value: unknown) => pool.exec("echo", [value]) as unknown as Promise<unknown>;
  await echo(0);
  return { echo, close: () => Promise.resolve(pool.terminate()) };
});

const poolifierEcho = byClone("Poolifier", async () => {
  const pool = new FixedThreadPool<unknown, unknown>(1, file("./poolifier-worker.ts"));
  const echo = (value: unknown) => pool.execute(value);
  await echo(0);
  // In one of twenty runs on Node its promise never settles, and Node ends a process that waits for nothing else.
  return { echo, close: () => Promise.race([pool.destroy(), setTimeout(MAX_TO_CLOSE_MS)]) };
});

const comlinkEcho = byClone("comlink", async () => {
  const worker = new Worker(new URL("./comlink-worker.ts", import.meta.url));
  const echo = wrap<(value: unknown) => unknown>(nodeEndpoint(worker)) as EchoCalls["echo"];
  await echo(0);
  return { echo, close: () => worker.terminate() };
});

/** Blocks the caller for each message: a batch is one after the other. */
const synckitEcho = byClone("synckit", () => {
  const call = createSyncFn<(value: unknown) => Promise<unknown>>(file("./synckit-worker.ts"));
  call(0);
  const echo = (value: unknown) => Promise.resolve(call(value));
  return Promise.resolve({ echo, close: () => Promise.resolve() });
});

/** All of them; `reasons`: by name, why one does not run here. */
export function others(reasons: Readonly<Record<string, string>> = {}): readonly EchoContender[] {
  return [
    piscinaEcho,
    tinypoolEcho,
    workerpoolEcho,
    poolifierEcho,
    comlinkEcho,
    synckitEcho,
  ].map((each) => {
    const reason = reasons[each.name];
    return reason === undefined ? each : { ...each, refuses: () => reason };
  });
}
