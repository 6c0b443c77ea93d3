/**
 * What a worker loads: the kernel's side of it, with all features.
 *
 * @module
 */
import { workerFeatures } from "./features/worker.ts";
import { useInWorker } from "./worker/feature.ts";

useInWorker(workerFeatures);

export { serve } from "./worker/entry.ts";
