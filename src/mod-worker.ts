/**
 * The module of a worker: the kernel's part of workers, and all features.
 *
 * @module
 */
import { workerFeatures } from "./features/worker.ts";
import { serve, serveThread } from "./worker/entry.ts";
import { useInWorker } from "./worker/feature.ts";

useInWorker(workerFeatures);
serveThread(serve);

export { serve };
