/** What a feature adds to a host. The kernel imports no feature: `createPool` is made with those of `features/host.ts`. */
import { useValues, type ValueFeature } from "../../codec/feature.ts";
import { type CallFeature, useCalls } from "../../host/calls/feature.ts";
import { type LaneFeature, useLanes } from "../../host/lanes/feature.ts";
import { useWorkers, type WorkersFeature } from "../../host/workers/feature.ts";
import { type OptionFeature, useOptions } from "../options/feature.ts";

/** Everything that a feature may add. Most add one or two things. */
export interface HostFeature
  extends ValueFeature, CallFeature, LaneFeature, WorkersFeature, OptionFeature {
  /** Names of the features that it does not work without. */
  readonly needs?: readonly string[];
}

/** Attaches features to this thread. */
export function useInHost(features: readonly HostFeature[]): void {
  for (const feature of features) {
    useValues(feature);
    useCalls(feature);
    useLanes(feature);
    useWorkers(feature);
    useOptions(feature);
  }
}
