/**
 * The module of a worker of `heddle/core`: the kernel's part of workers, which loads the features of its pool.
 *
 * @module
 */
import { serve } from "./core/worker.ts";
import { processes } from "./features/workers/processes/worker.ts";
import { serveThread } from "./worker/entry.ts";
import { useInWorker } from "./worker/feature.ts";

useInWorker([processes]);
serveThread(serve);

export { serve };
