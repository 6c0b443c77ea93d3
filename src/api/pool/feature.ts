/** What a feature adds to a host. The kernel imports no feature: `createPool` is made with those of `features/host.ts`. */
import { Set } from "../../builtins.ts";
import { useValues, type ValueFeature } from "../../codec/feature.ts";
import { type CallFeature, useCalls } from "../../host/calls/feature.ts";
import { type LaneFeature, messages } from "../../host/lanes/feature.ts";
import { makers, type WorkersFeature } from "../../host/workers/feature.ts";
import { type OptionFeature, useOptions } from "../options/feature.ts";
import { type ReturnFeature, useReturns } from "../calls/feature.ts";
import { type SignatureFeature, useSignatures } from "../tasks/feature.ts";
import { type MemberFeature, useMembers } from "./members.ts";
import type { PoolParts } from "./parts.ts";

/** Everything that a feature may add. Most add one or two things. */
export interface HostFeature
  extends
    ValueFeature,
    CallFeature<PoolParts>,
    LaneFeature<PoolParts>,
    WorkersFeature,
    OptionFeature,
    SignatureFeature,
    ReturnFeature,
    MemberFeature {
  /** Names of the features that it does not work without. */
  readonly needs?: readonly string[];
}

const attached = new Set<HostFeature>();

/** Attaches features to this thread. A second time changes nothing: a program may both create pools and use `heddle/nats`. */
export function useInHost(features: readonly HostFeature[]): void {
  for (const feature of features) {
    if (attached.has(feature)) continue;
    attached.add(feature);
    useValues(feature);
    useCalls(feature);
    Object.assign(messages, feature.messages);
    Object.assign(makers, feature.workers);
    useOptions(feature);
    useSignatures(feature);
    useReturns(feature);
    useMembers(feature);
  }
}
