/** What a lane (`thread-lane.ts`) is created with, its owner, and how it ends. */
import type { Codec } from "../../codec/codec.ts";
import type { WorkerLoss } from "../../errors.ts";
import type { RingSizes } from "../../lane/layout.ts";
import type { LaneSet } from "../lanes/lane-set.ts";
import type { PoolStart } from "../../protocol/start-data.ts";
import type { Runtime, WorkerHandle } from "../../runtimes/runtime.ts";
import type { Connect } from "./lane-connection.ts";

export interface LaneOptions {
  readonly runtime: Runtime;
  readonly codec: Codec;
  /** Starts a thread, or returns the one that was started in advance. */
  readonly spawn: (workerId: number) => WorkerHandle;
  /** Loads what makes workers on the host's thread. Undefined: a pool without threads fails. */
  readonly spawnOnHost?: (() => Promise<() => WorkerHandle>) | undefined;
  readonly ringSizes: RingSizes;
  /** Where workers share no memory with the host. */
  readonly connect?: Connect | undefined;
  readonly start: PoolStart;
  /** Longest time to become ready, and to close, in milliseconds. */
  readonly startTimeoutMs: number;
  readonly teardownTimeoutMs: number;
}

/** How a lane ended. */
export interface LaneEnd extends WorkerLoss {
  /** The first error that ended the worker, if any: an uncaught exception, or the error passed to `end`. */
  readonly cause: unknown;
  /** Set if the worker failed to start. Undefined if it was closed while starting. */
  readonly startError: Error | undefined;
  /** Whether the worker's code has not even begun: its thread cannot run here. */
  readonly neverBegan: boolean;
  /** Whether the host had asked it to exit. */
  readonly wasAsked: boolean;
}

/** Who has started a lane. */
export interface LaneOwner<Lane> {
  /** Where it moves from phase to phase. */
  readonly lanes: Pick<LaneSet, "move">;
  onReady(lane: Lane): void;
  /** Called exactly once, when the lane is gone: the thread has exited, or did not end in time. */
  onEnd(lane: Lane, end: LaneEnd): void;
}
