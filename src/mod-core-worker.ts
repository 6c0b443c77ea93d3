/**
 * The module of a worker of `heddle/core`: the kernel's part of workers, which loads the features of its pool.
 *
 * @module
 */
import { serve } from "./core/worker.ts";
import { processes } from "./features/workers/processes/worker.ts";
import { serveThread } from "./worker/entry.ts";
import { seams } from "./worker/feature.ts";

seams.loadServing = processes.loadServing;
serveThread(serve);

export { serve };
