/** A worker as its host sees it, and a host as its worker does. Types only. */
import type { Death } from "./processes/types.ts";
import type { PayloadPort } from "./runtime.ts";

/** What a worker uses, as its host sees it, whatever the worker does. */
export interface WorkerReading {
  /** Of a thread: bytes of its heap and buffers, garbage included. Undefined: it is a process. */
  readonly heapBytes: number | undefined;
  /** Of a process: its memory that is in use. Undefined: it is a thread. */
  readonly residentBytes: number | undefined;
  /** Processor time since its start, in milliseconds. */
  readonly processorMs: number | undefined;
}

/** Host's handle on a worker: a thread or a process. */
export interface WorkerHandle {
  /**
   * Of a worker that can end at any point: up to which position of its request ring it has begun the records. Undefined: that is
   * not known.
   */
  readonly begun?: () => number | undefined;
  /** Whether it has certainly loaded no module of the program by now, and can be stopped without a loss. */
  readonly isBlank?: () => boolean;
  /** Most calls that it may get before it has begun them. */
  readonly maxSent?: number | undefined;
  /** The payload channel of a worker that has one of its own. */
  readonly channel?: { readonly local: PayloadPort; readonly remote: unknown };
  /** The objects in `transfer` move. */
  post(message: unknown, transfer?: readonly unknown[]): void;
  onMessage(listener: (message: unknown) => void): void;
  /** Uncaught error in the worker, reported before `onExit`. */
  onError(listener: (error: unknown) => void): void;
  onExit(listener: (exitCode: number | undefined, death?: Death) => void): void;
  /** Whether the worker alone keeps the process running. */
  ref(): void;
  unref(): void;
  /** Whether the thread has ended, for a host that blocks. Missing where the runtime cannot tell before its events. */
  readonly hasEnded?: (() => boolean) | undefined;
  /** Undefined, or missing: the runtime cannot tell, or the worker is gone. */
  readonly read?: (() => Promise<WorkerReading | undefined>) | undefined;
  /** Stops the thread at any point of its execution. Settles when the runtime reports that it has ended. */
  terminate(): Promise<unknown>;
}

/** Standard streams by name. */
export type OutputName = "stdout" | "stderr";

/** A worker's handle on its host. */
export interface ParentHandle {
  /** `transfer`: objects that move, where lanes are mirrored. */
  readonly post: (message: unknown, transfer?: readonly unknown[]) => void;
  onMessage(listener: (message: unknown) => void): void;
  /** Keeps unhandled rejections from ending the worker, and reports those for which users' code has no listener. */
  onUnhandledRejection(listener: (reason: unknown) => void): void;
  /** Called with an exception that is ending this thread, if the runtime does not pass it to the host (`WorkerHandle.onError`). */
  onUncaught(listener: (error: unknown) => void): void;
  /** Called when this thread ends by itself (not if it is stopped, or runs out of memory). */
  onExit(listener: () => void): void;
  /** Whether an uncaught exception is ending this thread. On Node pending promise callbacks still run. */
  readonly isTerminating: () => boolean;
  /** Writes these streams straight to the process's descriptors from now on, not by messages to the host. */
  writeDirectly(outputs: readonly OutputName[]): void;
  /** Calls back when this thread's output to stdout and stderr has reached its host. */
  flushOutput(callback: () => void): void;
  /** Ends this worker. */
  exit(code: number): void;
}
