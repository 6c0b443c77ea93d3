/** What workers and their supervisor report. */
import type { WorkerLostError } from "../../errors.ts";
import type { TaskDescription } from "../../protocol/start-data.ts";
import type { PendingCall } from "../calls/in-flight.ts";
import type { Lane } from "../lanes/lane.ts";

/** How a worker ended, and what that meant for the pool. */
export interface WorkerExit {
  readonly workerId: number;
  readonly reason: string;
  readonly exitCode: number | undefined;
  /** Running calls that rejected with it. */
  readonly callsLost: number;
  /** Id of the worker that takes its place, perhaps in a moment. Undefined: none, or not decided yet. */
  readonly replacedBy: number | undefined;
}

export type ExitOf = { -readonly [Key in keyof WorkerExit]: WorkerExit[Key] };

/** What a worker reports. */
export interface WorkerEvents {
  /** Called before a worker is ready, with the tasks of `taskModule`. It fails with the error that this returns. */
  onTasks(tasks: readonly TaskDescription[]): Error | undefined | Promise<Error | undefined>;
  /** A worker has woken the host; or the host a worker, if anybody wants to know. */
  readonly onWake: (worker: { readonly id: number }) => void;
  readonly onWoken: ((workerId: number) => void) | undefined;
  /** Dispatches an event of the pool. Unless a listener calls `preventDefault()`, prints `warning` if there is one, and returns true. */
  emit(name: string, detail: object, warning?: string, cause?: unknown): boolean;
}

export interface SupervisorEvents extends WorkerEvents {
  /** A worker has started: calls back when it may take calls. */
  onPrepare(lane: Lane, onDone: () => void): void;
  /** A worker has ended, or never started. */
  onEnded(workerId: number, error: () => Error): void;
  /** `minThreads` workers are ready for the first time. */
  onReady(): void;
  /** The pool has failed: every call is rejected from now on. */
  onFailed(error: Error): void;
  /** Rejects a call whose worker is gone. */
  onLost(call: PendingCall, error: WorkerLostError): void;
  /** A worker takes calls from now on. */
  onWorkerStart(workerId: number): void;
  /**
   * A worker has ended; with an error if it ended unexpectedly and the pool goes on. Of the calls that it was running,
   * idempotent ones with retries left are retried, the others have been rejected.
   */
  onWorkerExit(exit: WorkerExit, error: WorkerLostError | undefined): void;
}
