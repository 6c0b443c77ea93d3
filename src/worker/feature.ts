/** What a feature adds to a worker. The kernel imports no feature: `mod-worker.ts` attaches those of `features/worker.ts`. */
import { useValues, type ValueFeature } from "../codec/feature.ts";

/** Everything that a feature may add. */
export interface WorkerFeature extends ValueFeature {
  /** Names of the features that it does not work without. */
  readonly needs?: readonly string[];
}

/** Attaches features to this worker. */
export function useInWorker(features: readonly WorkerFeature[]): void {
  for (const feature of features) useValues(feature);
}
