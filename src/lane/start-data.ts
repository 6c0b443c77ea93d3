/**
 * What host and worker say to each other outside the rings: the data a worker starts with, and the
 * control messages. Plain data only; everything here crosses by structured clone.
 */
import type { SharedWord } from "../sync/awake-count.ts";
import type { WorkerLimits } from "../runtimes/runtime.ts";

/** Where a worker finds a task. Identity is module and export name, never a position. */
export interface TaskSource {
  /** Key in `pool.call`, for messages. */
  readonly name: string;
  /** URL of the module, importable in the worker. */
  readonly moduleUrl: string;
  readonly exportName: string;
  /** What the host takes its signature to be, in words; undefined: it declares nothing. */
  readonly declares: string | undefined;
  /** Whether the task gets a signal as its last argument; its own module may say so as well. */
  readonly hasSignal: boolean;
}

export interface WorkerStart extends PoolStart {
  readonly workerId: number;
  /** The lane's memory (lane-layout.ts). */
  readonly lane: SharedArrayBuffer;
  /** Bytes; the response ring follows. */
  readonly requestCapacity: number;
  /** The worker's end of the payload channel, as the runtime passes it. */
  readonly payloadPort: unknown;
}

/** What all workers of a pool are told. */
export interface PoolStart {
  /** The pool's parked word (lane-layout.ts). */
  readonly hostControl: SharedArrayBuffer;
  /** The AwakeCount's words: the count, shares above; for a worker its own share as well. */
  readonly active: readonly SharedWord[];
  /** Cores this process may use. */
  readonly cores: number;
  /** What the pool's workers have measured (service-times.ts). */
  readonly taskTimings: SharedArrayBuffer;
  /** Which calls were given up (abort-words.ts). */
  readonly abortEpochs: SharedArrayBuffer;
  /** Longest spin for the next call, in milliseconds. */
  readonly spinMs: number;
  /** Task functions by index in the pool's task table. */
  readonly tasks: readonly TaskSource[];
  /** Async tasks in flight at once before the worker stops taking calls. */
  readonly maxConcurrency: number;
  /** Most bytes of one encoded result; Infinity for no limit of heddle's own. */
  readonly maxPayloadBytes: number;
  /** What its thread is held to. */
  readonly limits: WorkerLimits;
  /** Bytes of memory from which on the worker says that it is full; Infinity: never. */
  readonly maxMemory: number;
}

/** Host to worker. WAKE: look at the rings (sent only to a worker parked in its event loop). */
export const WAKE = 0;
/** Host to worker: say when what was written to stdout and stderr has arrived ("flushed"). */
export const FLUSH = 1;

/** Why a call was given up: an error, a DOMException (message and name), or any other value. */
export type PackedReason =
  | { readonly error: Uint8Array }
  | { readonly dom: readonly [message: string, name: string] }
  | { readonly value: unknown };

/** Host to worker: a call was given up that the worker may be running, with a signal for its task. */
export interface AbortMessage {
  readonly heddle: "abort";
  readonly slot: number;
  readonly generation: number;
  readonly reason: PackedReason;
}

/**
 * Worker to host; a bare WAKE as well: the host is parked and an answer is ready. Errors are encoded
 * by the codec (`packError`).
 */
export type WorkerMessage =
  | typeof WAKE
  | { readonly heddle: "ready" }
  | { readonly heddle: "flushed" }
  /** The worker could not load its tasks; it exits. `taskMissing`: a module lacks an export. */
  | { readonly heddle: "failed"; readonly taskMissing: boolean; readonly error: Uint8Array }
  /** The worker holds more than `maxMemory`. `isFarOver`: so much more that it should get no calls. */
  | { readonly heddle: "full"; readonly isFarOver: boolean }
  /** A promise was rejected in the worker and nobody handled it, or an `onTeardown` hook failed. */
  | { readonly heddle: "unhandledRejection"; readonly error: Uint8Array };
