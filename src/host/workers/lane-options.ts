/** What a lane (`thread-lane.ts`) is created with, and how it ends. */
import type { Codec } from "../../codec/codec.ts";
import type { WorkerLoss } from "../../errors.ts";
import type { RingSizes } from "../../lane/layout.ts";
import type { PoolStart } from "../../protocol/start-data.ts";
import type { Runtime, WorkerHandle } from "../../runtimes/runtime.ts";

export interface LaneOptions {
  readonly runtime: Runtime;
  readonly codec: Codec;
  /** Starts a thread, or returns the one that was started in advance. */
  readonly spawn: (workerId: number) => WorkerHandle;
  readonly ringSizes: RingSizes;
  readonly start: PoolStart;
  /** Longest time to become ready, and to close, in milliseconds. */
  readonly startTimeoutMs: number;
  readonly teardownTimeoutMs: number;
}

/** How a lane ended. */
export interface LaneEnd extends WorkerLoss {
  /** The first error that ended the worker, if any: an uncaught exception, or the error passed to `fail`. */
  readonly cause: unknown;
  /** Set if the worker failed to start. Undefined if it was closed while starting. */
  readonly startError: Error | undefined;
}
