/** What a feature adds to a host. The kernel imports no feature: `createPool` is made with those of `features/host.ts`. */
import { Set } from "../../builtins.ts";
import { ProtocolError } from "../../errors.ts";
import { useValues, type ValueFeature } from "../../codec/feature.ts";
import { type CallFeature, useCalls } from "../../host/calls/feature.ts";
import type { PendingCall } from "../../host/calls/in-flight.ts";
import type { CallFollower } from "../../host/dispatch/call-entry.ts";
import type { CreatePinned } from "../../host/dispatch/queue/pinned-queue.ts";
import type { QueueBound } from "../../host/dispatch/queue/queue-bound.ts";
import { type LaneFeature, messages } from "../../host/lanes/feature.ts";
import type { Lane } from "../../host/lanes/lane.ts";
import type { Stealing, StealingOptions } from "../../host/schedule/stealing.ts";
import type { TracingChannel } from "../../runtimes/runtime.ts";
import { makers, type WorkersFeature } from "../../host/workers/feature.ts";
import type { OptionFeature } from "../options/feature.ts";
import { useOptions } from "../options/options.ts";
import { type ReturnFeature, returns } from "../calls/feature.ts";
import { type SignatureFeature, signatures } from "../tasks/feature.ts";
import { type MemberFeature, members } from "./members.ts";
import type { PoolParts } from "./parts.ts";

/** What the kernel has one place for. Undefined: no feature fills it, and the kernel does without. */
export interface Provided {
  /** Counts and limits the calls that wait on the host. */
  bound?: (host: PoolParts) => QueueBound;
  /** Moves calls from busy workers to idle ones. */
  stealing?: (options: StealingOptions) => Stealing;
  /** Holds calls that only certain workers may run. */
  pinned?: CreatePinned;
  /** Follows calls while its tracing channel has subscribers, and those of a pool with the option `debug`. */
  follower?: {
    readonly channel: string;
    readonly create: (host: PoolParts, channel: TracingChannel) => CallFollower;
  };
}

/** Reads and releases a record that plain calls do not have; `call`: undefined if it is over. Runs no user code. */
type ReadRecord = (
  host: PoolParts,
  lane: Lane,
  index: number,
  call: PendingCall | undefined,
) => void;

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

  /** What it puts into places of the kernel. */
  readonly provides?: Readonly<Provided>;
  /** Bytes of memory that all workers of a pool share with the host: their start data of this feature. */
  readonly sharedBytes?: number;
  /** Readers of records of workers, by kind (`lane/frame.ts`). */
  readonly records?: Readonly<Record<number, ReadRecord>>;
}

export const provided: Provided = {};
/** By feature. */
export const sharedBytes: Record<string, number> = {};
const records: Record<number, ReadRecord> = {};

/** Reads a record of a worker by its feature. False: no feature knows it. Throws ProtocolError if it cannot be read. */
export function readRecord(
  host: PoolParts,
  lane: Lane,
  index: number,
  call: PendingCall | undefined,
  kind: number,
): boolean {
  const read = records[kind];
  if (read === undefined) return false;
  try {
    read(host, lane, index, call);
  } catch (cause) {
    if (cause instanceof ProtocolError) throw cause;
    throw new ProtocolError(`A record of kind ${kind} cannot be read.`, { cause });
  }
  return true;
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
    const { loadSignatures, callGenerator, callEarly } = feature;
    if (loadSignatures !== undefined) Object.assign(signatures, { loadSignatures });
    if (callGenerator !== undefined) Object.assign(returns, { callGenerator, callEarly });
    Object.assign(members, feature.members);
    Object.assign(provided, feature.provides);
    if (feature.sharedBytes !== undefined) sharedBytes[feature.name] = feature.sharedBytes;
    Object.assign(records, feature.records);
  }
}
