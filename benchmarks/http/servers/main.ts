/**
 * A server of the `http` scenario, by the name of its kind. It listens on a free port of 127.0.0.1, prints
 * `{"port":N}`, and ends when its standard input is closed, so that no server outlives the process that started it.
 */
import os from "node:os";
import process from "node:process";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { parseArgs } from "node:util";
import { createPool } from "../../../dist/mod.js";
import { compute, HOST, type Listening } from "../routes.ts";
import { listen } from "./listen.ts";
import {
  CLUSTER,
  CLUSTER_PROCESS,
  FASTIFY,
  LISTENING_WORKERS,
  OFFLOADING,
  ONE_THREAD,
  SHORT_TASKS,
} from "./kinds.ts";

const { values } = parseArgs({
  options: {
    kind: { type: "string", default: ONE_THREAD },
    threads: { type: "string", default: String(os.availableParallelism()) },
    steps: { type: "string", default: "1000" },
    pool: { type: "string", default: "heddle" },
  },
});
const threads = Number(values.threads);
const steps = Number(values.steps);

const startPool = (keepAlive: boolean) =>
  createPool({ threads, keepAlive })<typeof import("./tasks.ts")>(
    new URL("./tasks.ts", import.meta.url),
  );

/** A port that nothing listens on: workers that share one have to be told which. */
function findPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, HOST, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

const alone = () =>
  listen({ port: 0, reusePort: false }, { who: "main", heavy: () => compute(steps) });

async function listeningWorkers(): Promise<Listening> {
  const port = await findPort();
  const pool = startPool(true);
  // Sticky: a worker that replaces another one listens as well.
  await pool.broadcast.serve.with({ sticky: true })(port, steps);
  return { port, close: () => pool.shutdown() };
}

async function offloading(): Promise<Listening> {
  const pool = startPool(false);
  await pool.ready;
  const heavy = (): Promise<number> => pool.call.heavy(steps);
  const server = await listen({ port: 0, reusePort: false }, { who: "main", heavy });
  const close = async (): Promise<void> => {
    await server.close();
    await pool.shutdown();
  };
  return { port: server.port, close };
}

/** Modules of Node alone are loaded for their own kinds only. */
async function start(): Promise<Listening> {
  switch (values.kind) {
    case ONE_THREAD:
      return await alone();
    case LISTENING_WORKERS:
      return await listeningWorkers();
    case OFFLOADING:
      return await offloading();
    case CLUSTER:
      return await (await import("./cluster.ts")).listenCluster(threads, steps);
    case SHORT_TASKS:
      return await (await import("./short-tasks.ts")).listenShortTasks(values.pool, threads);
    case FASTIFY:
      return await (await import("./fastify.ts")).listenFastify();
    default:
      throw new Error(`There is no kind of server "${values.kind}".`);
  }
}

async function serveUntilClosed(): Promise<void> {
  const server = await start();
  process.stdout.write(`${JSON.stringify({ port: server.port })}\n`);
  process.stdin.on("end", async () => {
    await server.close();
    process.stdout.write("closed\n");
    process.exit(0);
  });
  process.stdin.resume();
}

if (values.kind === CLUSTER_PROCESS) await (await import("./cluster.ts")).serveInCluster(steps);
else await serveUntilClosed();
