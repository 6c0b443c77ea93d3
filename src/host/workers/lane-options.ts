/** What a lane (`thread-lane.ts`) is created with, what it reports, and how it ends. */
import type { Codec } from "../../codec/codec.ts";
import type { WorkerLoss } from "../../errors.ts";
import type { RingSizes } from "../../lane/layout.ts";
import type { HostMirror, HostMirrorOptions } from "../../lane/mirror/host-mirror.ts";
import type { PoolStart, TaskDescription, TaskMessage } from "../../protocol/start-data.ts";
import type { Runtime, WorkerHandle } from "../../runtimes/runtime.ts";

export interface LaneOptions {
  readonly runtime: Runtime;
  readonly codec: Codec;
  /** Starts a thread, or returns the one that was started in advance. */
  readonly spawn: (workerId: number) => WorkerHandle;
  /** Loads what makes workers on the host's thread. Undefined: a pool without threads fails. */
  readonly spawnOnHost?: (() => Promise<() => WorkerHandle>) | undefined;
  readonly ringSizes: RingSizes;
  /** Where workers share no memory with the host: what keeps its copy of a lane up to date. */
  readonly createMirror?:
    | ((memory: SharedArrayBuffer, post: HostMirrorOptions["post"]) => HostMirror)
    | undefined;
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
  /** Whether the worker's code has not even begun: its thread cannot run here. */
  readonly neverBegan: boolean;
}

/** What a lane reports. */
export interface LaneEvents<Lane> {
  /** Called before `onReady` with the tasks of `taskModule`. The lane fails with the error that this returns. */
  onTasks(tasks: readonly TaskDescription[]): Error | undefined | Promise<Error | undefined>;
  onReady(lane: Lane): void;
  readonly onWake: (lane: Lane) => void;
  /** The host had to wake the worker. Undefined: nobody wants to know. */
  readonly onWoken: ((lane: Lane) => void) | undefined;
  onUnhandledRejection(lane: Lane, error: Error): void;
  /** The worker's code posted a message of its own. */
  onMessage(lane: Lane, message: unknown): void;
  /** A task of the worker wants something. */
  onTaskMessage(lane: Lane, message: TaskMessage): void;
  /** The worker uses too much memory, or far too much. May be repeated. */
  onFull(lane: Lane, isFarOver: boolean): void;
  /** Called exactly once, when the lane is GONE: the thread has exited, or did not end in time. */
  onEnd(lane: Lane, end: LaneEnd): void;
}
