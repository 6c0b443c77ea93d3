/** The tasks of the servers with heddle: a server in each worker, and the work of `/heavy`. */
import { onTeardown, workerInfo } from "../../../dist/task.js";
import { compute, type Listening } from "../routes.ts";
import { listen } from "./listen.ts";

let server: Listening | undefined;

/** Listens on a port that all workers share. */
export async function serve(port: number, steps: number): Promise<number> {
  const who = `worker ${workerInfo()!.id}`;
  server = await listen({ port, reusePort: true }, { who, heavy: () => compute(steps) });
  return server.port;
}

onTeardown(() => server?.close());

export const heavy = (steps: number): number => compute(steps);
