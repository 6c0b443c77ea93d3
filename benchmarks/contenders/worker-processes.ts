/** Contenders with one worker that is a process, with their defaults. */
import { fileURLToPath } from "node:url";
import { BARE_FORK, JEST_WORKER, TINYPOOL, WORKERPOOL } from "../scenarios/processes-cases.ts";
import { callsByNumber } from "./calls-by-number.ts";
import type { OneWorkerContender } from "./types.ts";

const plain = (name: string): string =>
  fileURLToPath(new URL(`./plain/${name}.mjs`, import.meta.url));
const tasks = plain("tasks");

const heddle: OneWorkerContender = {
  name: "heddle",
  async load() {
    const { createPool } = await import("../../dist/mod.js");
    return () => {
      type Tasks = { echo(value: unknown): unknown };
      const pool = createPool({ threads: 1, workers: "processes" })<Tasks>(tasks);
      return { echo: pool.call.echo, close: () => pool.shutdown() };
    };
  },
};

const jestWorker: OneWorkerContender = {
  name: JEST_WORKER,
  async load() {
    const { Worker } = await import("jest-worker");
    return () => {
      const pool = new Worker(tasks, { numWorkers: 1, exposedMethods: ["echo"] }) as
        & InstanceType<typeof Worker>
        & { echo(value: unknown): Promise<unknown> };
      return { echo: (value) => pool.echo(value), close: () => pool.end() };
    };
  },
};

const tinypool: OneWorkerContender = {
  name: TINYPOOL,
  async load() {
    const { Tinypool } = await import("tinypool");
    return () => {
      const pool = new Tinypool({
        filename: tasks,
        runtime: "child_process",
        minThreads: 1,
        maxThreads: 1,
      });
      return {
        echo: (value) => pool.run(value, { name: "echo" }),
        close: () => pool.destroy(),
      };
    };
  },
};

const workerpool: OneWorkerContender = {
  name: WORKERPOOL,
  async load() {
    const { default: library } = await import("workerpool");
    return () => {
      const pool = library.pool(plain("workerpool-worker"), {
        minWorkers: 1,
        maxWorkers: 1,
        workerType: "process",
      });
      return {
        echo: (value) => pool.exec("echo", [value]) as unknown as Promise<unknown>,
        close: () => Promise.resolve(pool.terminate()),
      };
    };
  },
};

const bareFork: OneWorkerContender = {
  name: BARE_FORK,
  async load() {
    const { fork } = await import("node:child_process");
    return () => {
      const child = fork(plain("bare-child"));
      const { call, settle } = callsByNumber((id, value: unknown) => child.send([id, value]));
      child.on("message", (message) => settle(message as [number, unknown]));
      return { echo: call, close: () => Promise.resolve(child.kill()) };
    };
  },
};

export const PROCESS_CONTENDERS: readonly OneWorkerContender[] = [
  heddle,
  jestWorker,
  tinypool,
  workerpool,
  bareFork,
];
