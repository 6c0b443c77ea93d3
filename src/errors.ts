/**
 * Every error class of the public API but their base, each with a literal `code`. Imports nothing but their base, and
 * `scope-errors.ts`.
 *
 * A message names the invalid value and the rule. Errors thrown by tasks are not wrapped: the caller gets the task's
 * own error (see `codec/kinds/errors.ts`).
 */

import { ERROR_CLASS, HeddleError } from "./heddle-error.ts";
import {
  CallbackEndedError,
  CallEndedError,
  DeadlockError,
  ObjectLostError,
  StreamClosedError,
  UnknownFunctionError,
} from "./request-errors.ts";
import { ProfileUnavailableError, ScopeCancelledError, ScopeClosedError } from "./scope-errors.ts";
import type { InstallationError } from "./installation-error.ts";
import type { AnySharedError } from "./shared-errors.ts";

export * from "./request-errors.ts";

export { HeddleError, type HeddleErrorCode } from "./heddle-error.ts";
export { ProfileUnavailableError, ScopeCancelledError, ScopeClosedError };

/** An option or argument is invalid. Nothing was started or sent. */
export class InvalidArgumentError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_INVALID_ARGUMENT";

  /** Creates the error. */
  constructor(message: string, options?: ErrorOptions) {
    super("HEDDLE_INVALID_ARGUMENT", message, options);
  }
}

/** `pool.call` has no task of that name. */
export class UnknownTaskError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_UNKNOWN_TASK";

  /** `hint` ends the first sentence, perhaps with the nearest known name. */
  constructor(name: string, known: readonly string[], hint = ".") {
    super(
      "HEDDLE_UNKNOWN_TASK",
      `No task is named "${name}" in this pool${hint} It has: ${known.join(", ") || "none"}.`,
    );
  }
}

/** The module of a task does not export the task under the expected name. */
export class TaskNotFoundError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_TASK_NOT_FOUND";

  /** Creates the error. */
  constructor(message: string, options?: ErrorOptions) {
    super("HEDDLE_TASK_NOT_FOUND", message, options);
  }
}

/** A worker could not start: a task module threw while it loaded (`cause`), or workers keep ending. */
export class WorkerStartError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_WORKER_START";

  /** Creates the error. */
  constructor(message: string, options?: ErrorOptions) {
    super("HEDDLE_WORKER_START", message, options);
  }
}

/** `createPool` was called while a worker was loading task modules: the `isMain` guard is missing. */
export class NestedPoolError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_POOL_WHILE_LOADING";

  /** Creates the error. */
  constructor(message: string) {
    super("HEDDLE_POOL_WHILE_LOADING", message);
  }
}

/** The pool is closed or closing. The call did not run, or its response came too late. */
export class PoolClosedError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_POOL_CLOSED";

  /** Creates the error. */
  constructor(message = "The pool is closed.") {
    super("HEDDLE_POOL_CLOSED", message);
  }
}

/** Describes a worker that ended unexpectedly. */
export interface WorkerLoss {
  /** Number of the worker within its pool; replacements get new numbers. -1 for a machine. */
  readonly workerId: number;
  /** The name of the machine that was lost (`heddle/nats`). */
  readonly machine?: string;
  /** Exit code, if the runtime reported one. */
  readonly exitCode: number | undefined;
  /** Why the worker ended, in words. */
  readonly reason: string;
  /** The id that its process had. */
  readonly processId?: number | undefined;
  /** The signal that ended its process. */
  readonly signal?: string | undefined;
  /** Whether it ran out of memory, if the runtime says so. */
  readonly outOfMemory?: boolean;
  /** The last lines that it wrote to stderr, fatal errors of the runtime first: of a process, or with the option `output`. */
  readonly stderr?: string | undefined;
  /** The name of the task that it ran for the call. */
  readonly task?: string | undefined;
}

/** The worker ended before it responded to this call. The call may have run, in part or in full. */
export class WorkerLostError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_WORKER_LOST";

  /** Number of the worker within its pool; -1 for a machine. */
  readonly workerId: number;
  /** The name of the machine that was lost, if it is known. Only errors of `heddle/nats` have it. */
  declare readonly machine?: string;
  /** Exit code, if the runtime reported one. */
  readonly exitCode: number | undefined;
  /** Why the worker ended, in words. */
  readonly reason: string;
  /** The id that its process had, which the system may give to another one. Undefined: it was a thread, or could not be started. */
  declare readonly processId?: number;
  /** The signal that ended its process, such as "SIGKILL". Undefined: none, or it was a thread. */
  declare readonly signal?: string;
  /** Whether it ran out of memory, as far as the runtime says so: Bun does not, and a process that the system kills gets SIGKILL. */
  declare readonly outOfMemory: boolean;
  /** The last lines that its process wrote to stderr, fatal errors of the runtime first. Of a thread with the option `output`. Undefined: none, or not known. */
  declare readonly stderr?: string;
  /** The name of the task of this call. Undefined: it was no call, or of another pool. */
  declare readonly task?: string;

  /** Creates the error. */
  constructor(loss: WorkerLoss, options?: ErrorOptions) {
    const exit = loss.exitCode === undefined ? "" : ` (exit code ${loss.exitCode})`;
    const { machine, task } = loss;
    const lost = machine !== undefined
      ? `The machine "${machine}" was lost`
      : loss.workerId < 0
      ? "A machine or a message was lost"
      : `Worker ${loss.workerId} ended`;
    const to = task === undefined ? "" : ` to "${task}"`;
    super(
      "HEDDLE_WORKER_LOST",
      `${lost} before it responded${to}: ${loss.reason}${exit}.`,
      options?.cause === undefined ? undefined : options,
    );
    this.workerId = loss.workerId;
    this.exitCode = loss.exitCode;
    this.reason = loss.reason;
    this.outOfMemory = loss.outOfMemory === true;
    for (const key of ["machine", "processId", "signal", "stderr", "task"] as const) {
      if (loss[key] !== undefined) (this as Record<string, unknown>)[key] = loss[key];
    }
  }
}

/**
 * No machine serves the subject (`heddle/nats`), or NATS refuses the connection: the call did not run. Or the connection was
 * closed or lacks a permission, or NATS has not confirmed a durable call: it may have run.
 */
export class NoMachinesError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_NO_MACHINES";

  /** Creates the error. */
  constructor(message: string, options?: ErrorOptions) {
    super("HEDDLE_NO_MACHINES", message, options);
  }
}

/** A value outside the structured-clone set was passed to or returned from a task. */
export class DataCloneError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_DATA_CLONE";

  /** Creates the error. */
  constructor(message: string, options?: ErrorOptions) {
    super("HEDDLE_DATA_CLONE", message, options);
  }
}

/** The encoded arguments of a call, or its encoded result, are larger than the pool allows. */
export class PayloadTooLargeError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_PAYLOAD_TOO_LARGE";

  /** Bytes encoded when the limit was exceeded. The whole payload may be larger. */
  readonly bytes: number;
  /**
   * The limit: `maxPayloadBytes`, or about 2 GiB if that is not set; of a durable call what NATS takes. Undefined if memory was
   * exhausted.
   */
  readonly maxBytes: number | undefined;

  /** Its `code` is `HEDDLE_PAYLOAD_TOO_LARGE`. `limit` says where the limit is set. */
  constructor(
    bytes: number,
    maxBytes: number | undefined,
    options?: ErrorOptions,
    limit = "maxPayloadBytes",
  ) {
    super(
      "HEDDLE_PAYLOAD_TOO_LARGE",
      maxBytes === undefined
        ? `Out of memory for a payload of ${bytes} bytes.`
        : `A payload of at least ${bytes} bytes exceeds the limit of ${maxBytes} (${limit}).`,
      options,
    );
    this.bytes = bytes;
    this.maxBytes = maxBytes;
  }
}

/**
 * The call was refused because `maxQueue` calls wait already. It did not run. The refused calls of a pool share one
 * error without a stack, so that refusing a call takes no longer than accepting it.
 */
export class QueueFullError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_QUEUE_FULL";

  /** The option `maxQueue` of the pool: the maximum number of waiting calls. */
  readonly maxQueue: number;

  /** Creates the error. */
  constructor(maxQueue: number) {
    super(
      "HEDDLE_QUEUE_FULL",
      maxQueue === 0
        ? "No worker takes the call at once, and none may wait (maxQueue: 0)."
        : `${maxQueue} calls are waiting already (maxQueue).`,
    );
    this.maxQueue = maxQueue;
  }
}

/** A time limit of a call expired. Its task may have run, in part or in full. */
export class TimeoutError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_TIMEOUT";

  /**
   * Which limit: `runTimeoutMs` ("run"), `stallMs` ("stall"), `timeoutMs` ("call"), that of a scope ("scope"), or the pool's `hardTimeoutMs` ("hard").
   * "silent" occurs as the cause of a WorkerLostError: the worker took no call for twice the hard timeout.
   */
  readonly kind: "run" | "stall" | "call" | "scope" | "hard" | "silent";
  /** The limit, in milliseconds; undefined for a worker that was stopped by `killAfterMs`. */
  readonly limitMs: number | undefined;

  /** Creates the error. */
  constructor(kind: TimeoutError["kind"], limitMs: number | undefined) {
    const limit = limitMs === undefined ? "" : ` of ${limitMs} ms`;
    const messages = {
      run: `The task ran longer than its runTimeoutMs${limit}.`,
      stall: `Nothing was heard of the task for its stallMs${limit}.`,
      call: `The call got no response within its timeoutMs${limit}.`,
      scope: `The scope was not left within its timeoutMs${limit}.`,
      silent: `The worker took no call for ${limitMs} ms.`,
      hard: limitMs === undefined
        ? "The task went on for its killAfterMs after its call had ended early; its worker was stopped."
        : `The task ran longer than the hard timeout${limit}; its worker was stopped.`,
    };
    super("HEDDLE_TIMEOUT", messages[kind]);
    this.kind = kind;
    this.limitMs = limitMs;
  }
}

/** A value does not fit its declared schema. Nothing was sent. */
export class StructError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_STRUCT_MISMATCH";

  /** Path to the invalid part: `args[0].home.x`. */
  readonly path: string;
  /** The type that the schema declares there. */
  readonly expected: string;
  /** A description of the value found there. */
  readonly got: string;

  /** Creates the error. */
  constructor(path: string, expected: string, got: string, options?: ErrorOptions) {
    super("HEDDLE_STRUCT_MISMATCH", `${path} must be ${expected}, got ${got}.`, options);
    this.path = path;
    this.expected = expected;
    this.got = got;
  }
}

/** One thing that is wrong with a value, as its schema reports it. */
export interface ValidationIssue {
  /** The sentence of the schema's library. */
  readonly message: string;
  /** Keys that lead to the invalid part; empty for the value itself. Symbols are given as text. */
  readonly path: readonly (string | number)[];
}

/**
 * The argument or the result of a task does not fit the schema that the task declares (`input`, `output`). With an invalid
 * argument the task did not run.
 */
export class ValidationError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_VALIDATION";

  /** What was checked: the argument, or the result, which for a generator is one of its items. */
  readonly part: "input" | "output";
  /** All that is wrong, in the order of the schema. */
  readonly issues: readonly ValidationIssue[];

  /** `task` is the name of the task in its pool. */
  constructor(task: string, part: "input" | "output", issues: readonly ValidationIssue[]) {
    const [first, ...others] = issues;
    const where = first === undefined || first.path.length === 0 ? "" : `${first.path.join(".")}: `;
    const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
    super(
      "HEDDLE_VALIDATION",
      `The ${part} of task "${task}" is not valid: ${where}${
        first?.message ?? "no reason given"
      }${more}`,
    );
    this.part = part;
    this.issues = issues;
  }
}

/** A task read borrowed bytes (`borrow`, `view`) after it had returned or awaited. */
export class BorrowExpiredError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_BORROW_EXPIRED";

  /** Creates the error. */
  constructor() {
    super(
      "HEDDLE_BORROW_EXPIRED",
      "Values of borrow() and view() can be read until the task first returns or awaits. Copy " +
        "what is needed later: slice(), toObject(), toArray(), copy().",
    );
  }
}

/** Shared memory contains data that the protocol cannot have written: a bug, or a stray write. */
export class ProtocolError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_PROTOCOL";

  /** Creates the error. */
  constructor(message: string, options?: ErrorOptions) {
    super("HEDDLE_PROTOCOL", message, options);
  }
}

/** All error classes, by name. */
export const errorClasses: Readonly<Record<string, { readonly prototype: HeddleError }>> = {
  HeddleError,
  InvalidArgumentError,
  UnknownTaskError,
  TaskNotFoundError,
  WorkerStartError,
  NestedPoolError,
  PoolClosedError,
  StreamClosedError,
  ScopeClosedError,
  ScopeCancelledError,
  ProfileUnavailableError,
  WorkerLostError,
  NoMachinesError,
  DataCloneError,
  PayloadTooLargeError,
  QueueFullError,
  TimeoutError,
  StructError,
  ValidationError,
  BorrowExpiredError,
  UnknownFunctionError,
  CallbackEndedError,
  CallEndedError,
  DeadlockError,
  ObjectLostError,
  ProtocolError,
};
// `super()` writes the prototype's name into the stack, and minifiers keep these keys.
for (const [name, { prototype }] of Object.entries(errorClasses)) {
  Object.defineProperty(prototype, "name", { value: name, configurable: true });
  Object.defineProperty(prototype, ERROR_CLASS, { value: name });
}

/** The errors of heddle, which their `code` tells apart. */
export type AnyHeddleError =
  | InvalidArgumentError
  | UnknownTaskError
  | TaskNotFoundError
  | WorkerStartError
  | NestedPoolError
  | InstallationError
  | PoolClosedError
  | StreamClosedError
  | ScopeClosedError
  | ScopeCancelledError
  | ProfileUnavailableError
  | WorkerLostError
  | NoMachinesError
  | DataCloneError
  | PayloadTooLargeError
  | QueueFullError
  | TimeoutError
  | StructError
  | ValidationError
  | BorrowExpiredError
  | UnknownFunctionError
  | CallbackEndedError
  | CallEndedError
  | DeadlockError
  | ObjectLostError
  | ProtocolError
  | AnySharedError;

/**
 * Whether `error` is one of heddle's own, from any copy of heddle in the process. A `switch` over its `code` then knows the class.
 *
 * @example
 * ```ts
 * try {
 *   await pool.call.resize(image);
 * } catch (error) {
 *   if (!isHeddleError(error)) throw error; // the task threw it
 *   if (error.code === "HEDDLE_TIMEOUT") console.log(error.limitMs);
 * }
 * ```
 */
export function isHeddleError(error: unknown): error is AnyHeddleError {
  return error instanceof HeddleError;
}
