/**
 * Data that host and worker exchange outside the rings: the start data of a worker, and control messages.
 * Plain data only: everything here is copied by structured clone.
 */
import type { RequestMessage } from "../features/calls/requests/messages.ts";
import type { ArgumentMessage } from "../features/calls/streams/messages.ts";
import type { MirrorMessage } from "../features/workers/mirror/mirror-message.ts";
import type { SharedWord } from "../sync/awake-count.ts";
import type { WorkerLimits } from "../runtimes/runtime.ts";
import type { OutputName } from "../runtimes/worker-handle.ts";

/** Where a worker finds a task. Identity is module and export name, never a position. */
export interface TaskSource {
  /** Key in `pool.call`, for messages. */
  readonly name: string;
  /** URL of the module, importable in the worker. */
  readonly moduleUrl: string;
  readonly exportName: string;
  /** Its signature as the host knows it, in words. Undefined: it declares nothing. */
  readonly declares: string | undefined;
  /** Whether the task gets a signal as its last argument. The task's own module may request one as well. */
  readonly hasSignal: boolean;
  /** Whether the host checks its argument against the task's schema. Otherwise the worker does. */
  readonly isChecked: boolean;
  /** Where `task()` declared it, with the source text of its function. The export counts if the worker differs. */
  readonly declared: { readonly place: string; readonly text: string } | undefined;
  /** For a bare function, its own name, which must be that of the export. */
  readonly functionName: string | undefined;
  /** The source text of a bare function, by which it is found if the pool has another name for it than its module. */
  readonly functionText?: string;
}

/** A task as the worker that has loaded it describes it to a host that has not. */
export interface TaskDescription {
  /** Its export name. */
  readonly name: string;
  readonly hasSignal: boolean;
  /** Whether it is a generator function. */
  readonly isStream: boolean;
  /** Its signature in words. */
  readonly declares: string | undefined;
  /** The packed `TaskDeclaration` of a task that declares anything. */
  readonly declared: Uint8Array | undefined;
}

/**
 * Whether a worker runs calls of a task by its name (`CALL_BY_NAME`): the task declares nothing that the host has to know when it
 * makes a call. Host and worker both ask it, so that each call is either run or sent again.
 */
export function runsByName({ declared, hasSignal, isStream }: TaskDescription): boolean {
  return declared === undefined && !hasSignal && !isStream;
}

/** What a task declares, copied to the host. */
export interface TaskDeclaration {
  /** Its options (`TaskOptions`). */
  readonly options: object | undefined;
  /** The schemas of its arguments and of its result. */
  readonly args: readonly unknown[] | undefined;
  readonly returns: unknown;
}

/** Maximum number of functions in the module of a module pool: memory for their timings is allocated before. */
export const MAX_MODULE_TASKS = 1024;

export interface WorkerStart extends PoolStart {
  readonly workerId: number;
  /** The smallest number from 1 that no other worker of the pool has when it starts. */
  readonly slot: number;
  /** The lane's memory (layout.ts). */
  readonly lane: SharedArrayBuffer;
  /** Bytes; the response ring follows. */
  readonly requestCapacity: number;
  /** The worker's end of the payload channel, as the runtime passes it. */
  readonly payloadPort: unknown;
}

/** Start data common to all workers of a pool. */
export interface PoolStart {
  /** The version of the host's heddle, and the folder that workers have to read to load theirs. */
  readonly version: string;
  readonly library: string;
  /** Heddle's own folder, whose frames stacks of tasks do not show. Undefined: in a bundle, and with the option `debug`. */
  readonly hiddenFolder: string | undefined;
  /** The pool's parked word (layout.ts). */
  readonly hostControl: SharedArrayBuffer;
  /** The AwakeCount's words: the count, shares above; for a worker its own share as well. */
  readonly active: readonly SharedWord[];
  /** Cores this process may use. */
  readonly cores: number;
  /** Measurements of the pool's workers (task-timings.ts). */
  readonly taskTimings: SharedArrayBuffer;
  /** Longest spin for the next call, in milliseconds. */
  readonly spinMs: number;
  /** Task functions by index in the pool's task table. */
  readonly tasks: readonly TaskSource[];
  /** The module of a module pool while the host does not know its tasks: the worker describes all its functions. */
  readonly taskModule: string | undefined;
  /** Maximum of async tasks in flight. At this number the worker takes no calls. */
  readonly maxConcurrency: number;
  /** Maximum bytes of one encoded result. Infinity: heddle sets no limit. */
  readonly maxPayloadBytes: number;
  /** The option `worker`: the pool's name, the URL of its setup module, and the data for that. */
  readonly poolName: string;
  readonly setup: string | undefined;
  readonly data: unknown;
  /** Standard streams that the worker writes itself. */
  readonly directOutputs: readonly OutputName[];
  /** Limits of its thread. */
  readonly limits: WorkerLimits;
  /**
   * What features give to their side of the worker, by their names. Memory that threads share stands alone: where they share none,
   * the worker gets none.
   */
  readonly features: Readonly<Record<string, unknown>>;
  /** The features of the pool, by their names. Undefined: all. */
  readonly uses: ReadonlySet<string> | undefined;
}

/** Host to worker. WAKE: check the rings (sent only to a worker parked in its event loop). */
export const WAKE = 0;
/** Host to worker: reply "flushed" when all output to stdout and stderr has arrived. */
export const FLUSH = 1;

/** The reason of an abort: an error, a DOMException (message and name), or any other value. */
export type PackedReason =
  | { readonly error: Uint8Array }
  | { readonly dom: readonly [message: string, name: string] }
  | { readonly value: unknown };

/** What the host posts beside the messages of a start: messages of features, by their names. */
export interface HostMessage {
  readonly heddle: string;
  readonly [field: string]: unknown;
}

export type StartPart = "setup" | "module" | "export";

/** The worker could not start and exits. */
export interface StartFailure {
  readonly heddle: "failed";
  /** What failed: `setup`, a module, or an export that is missing. */
  readonly part: StartPart;
  readonly error: Uint8Array;
  /** The URL of the module that could not be imported, and the place of its mistake. */
  readonly module?: string | undefined;
  readonly place?: string | undefined;
}

/** How the start of a worker ended. `tasks`: the functions of `taskModule`. */
export type StartOutcome =
  | StartFailure
  | { readonly heddle: "ready"; readonly tasks?: readonly TaskDescription[] | undefined };

/** Both ways: a message of `heddle/shared`. */
export interface SharedMessage {
  readonly heddle: "shared";
  readonly body: unknown;
}

/** Both ways: a message is on the payload port, where a thread that waits without its event loop finds it. */
export interface NoticeMessage {
  readonly heddle: "notice";
}

/**
 * Worker to host. A bare WAKE is a message as well: the host is parked and a response is ready. Errors are
 * encoded by the codec (`packError`).
 */
export type WorkerMessage =
  | typeof WAKE
  | MirrorMessage
  | StartOutcome
  | { readonly heddle: "flushed" }
  | NoticeMessage
  /** The worker uses more than `maxMemory`. `isFarOver`: so much more that it should get no calls. */
  | { readonly heddle: "full"; readonly isFarOver: boolean }
  | ArgumentMessage
  /** The worker has printed (option `output`). `call`: by which call. */
  | {
    readonly heddle: "output";
    readonly stream: OutputName;
    readonly text: string;
    readonly call: { readonly task: string; readonly id: number } | undefined;
  }
  | RequestMessage
  | SharedMessage
  /** The exception that is ending the worker, where the runtime passes only its text. */
  | { readonly heddle: "uncaught"; readonly error: Uint8Array }
  /** A promise was rejected in the worker without a handler, or an `onTeardown` hook failed. */
  | { readonly heddle: "unhandledRejection"; readonly error: Uint8Array };
