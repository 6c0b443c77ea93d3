/**
 * What a worker loads: the kernel's side of it, with all features.
 *
 * @module
 */
import { workerFeatures } from "./features/worker.ts";
import { serve, serveThread } from "./worker/entry.ts";
import { useInWorker } from "./worker/feature.ts";

useInWorker(workerFeatures);
serveThread();

export { serve };
