/**
 * The module of a worker of `heddle/core`: the kernel's part of workers, which loads the features of its pool.
 *
 * @module
 */
import { serve } from "./core/worker.ts";
import { serveThread } from "./worker/entry.ts";

serveThread(
  serve,
  async () => (await import("./features/workers/processes/worker.ts")).serveProcess,
);

export { serve };
