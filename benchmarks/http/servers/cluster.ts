/** `node:cluster`: processes whose connections the first one accepts and hands out in turn, which is its default. */
import cluster, { type Worker } from "node:cluster";
import process from "node:process";
import { compute, type Listening } from "../routes.ts";
import { listen } from "./listen.ts";

/** In the first process. */
export async function listenCluster(processes: number, steps: number): Promise<Listening> {
  cluster.setupPrimary({ args: ["--kind=cluster process", `--steps=${steps}`] });
  const all = await Promise.all(Array.from({ length: processes }, fork));
  return {
    port: all[0]!.port,
    close: async () => {
      await Promise.all(all.map(({ worker }) => {
        const ended = new Promise((resolve) => worker.once("exit", resolve));
        worker.process.kill();
        return ended;
      }));
    },
  };
}

/** Starts a process and waits until it listens. */
function fork(): Promise<{ readonly worker: Worker; readonly port: number }> {
  const worker = cluster.fork();
  return new Promise((resolve, reject) => {
    worker.once("listening", ({ port }) => resolve({ worker, port }));
    worker.once("exit", (code) => reject(new Error(`a process of the cluster ended: ${code}`)));
  });
}

/** In the other processes, which all get the same free port. */
export async function serveInCluster(steps: number): Promise<void> {
  const work = { who: `process ${process.pid}`, heavy: () => compute(steps) };
  await listen({ port: 0, reusePort: false }, work);
}
