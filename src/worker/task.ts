/** Tasks and their calls, as the worker runs them. */
import type { Signature } from "../codec/declared.ts";

/** A task as the worker runs it. */
export interface WorkerTask {
  readonly f: (...args: unknown[]) => unknown;
  /** Its function with all checks, if a synchronous call may run it in the worker that makes it. */
  readonly inline: ((...args: unknown[]) => unknown) | undefined;
  /** Whether borrowed bytes may be read in place. False for an async function, which may read them later. */
  readonly mayBorrow: boolean;
  /** Its index in the pool, and the declared types of its values. */
  readonly index: number;
  readonly signature: Signature | undefined;
  /** Whether its last argument is an abort signal. */
  readonly hasSignal: boolean;
  /** Whether it is a generator function: its result is a stream. */
  readonly isStream: boolean;
  /** The task's option: maximum of items of its stream that are sent and not acknowledged. */
  readonly highWaterMark: number | undefined;
  /** The name of a call with these arguments, if it is not the task's. */
  readonly nameOf?: (args: readonly unknown[]) => string;
  /** What is sent in place of a result that cannot be sent, for that reason. Undefined: the reason itself. */
  readonly instead?: (result: unknown, reason: unknown) => unknown;
  /** Whether its callers want its events. */
  readonly emits: boolean;
  /** What is around its calls, from the outside to the inside. */
  readonly wraps: readonly TaskWrap[];
}

/** A running call of a task that something is around. */
export interface TaskCall {
  readonly slot: number;
  readonly generation: number;
  readonly task: WorkerTask;
  /** Whether the task timings measure it. */
  readonly isMeasured: boolean;
  /** What the host captured for it (option `context`). */
  context: unknown;
  /** Its own name, if it is not the task's. */
  name: string | undefined;
  isOver: boolean;
}

/** What a feature does around the calls of a task. */
export interface TaskWrap {
  /** Whether the task may begin later than its call: it gets no bytes in place. */
  readonly mayDelay?: boolean;
  /** A call begins. May change the arguments. */
  before?(call: TaskCall, args: unknown[]): void;
  /** Calls the task. */
  run?(call: TaskCall, f: () => unknown): unknown;
  /** The response of a call is about to be sent. */
  responding?(slot: number): void;
  /** The call is over for its task. */
  over?(slot: number, generation: number): void;
  /** Another task of this worker calls the task with these arguments; `call`: in this one. */
  inside?(f: WorkerTask["f"], args: unknown[], call: TaskCall | undefined): void;
}

/** What belongs to a call while that runs. */
export interface HeldArgument {
  /** What the task gets. */
  readonly value: object;
  bind(slot: number, generation: number): void;
  close(): void;
}
