/**
 * Requests of a worker to its host while a task runs: functions of the host, callbacks among the arguments of a call, and calls of
 * the pool's own tasks (nested calls). docs/internals/host-requests.md explains the protocol.
 */
import type { PackedValues } from "../../../lane/standalone-values.ts";

/** The number of a request in its record: negative if the worker waits for the answer with its thread. */
export function packNumber(number: number, isSync: boolean): number {
  return isSync ? -1 - number : number;
}

export function unpackNumber(
  packed: number,
): { readonly number: number; readonly isSync: boolean } {
  return packed < 0 ? { number: -1 - packed, isSync: true } : { number: packed, isSync: false };
}

/** A call by its slot on the host and the slot's generation. */
export type CallId = readonly [slot: number, generation: number];

/** In the place of a slot: the request belongs to no call, or to one that is over; or the worker does not know the call. */
export const NO_CALL = -1;
export const UNKNOWN_CALL = -2;

/** What is called, and how: the last value of a REQUEST record, behind the arguments. */
export type RequestHeader = readonly [
  target: "function" | "callback" | "listener" | "object" | "task",
  /** A name, or the number of a callback or of a reference. */
  which: string | number,
  settings?: NestedSettings | undefined,
  /** What the host captured for the call that makes the request (option `context`). */
  context?: unknown,
];

/** Options of a nested call, as settings of a call. */
export interface NestedSettings {
  readonly priority?: number;
  readonly runTimeoutMs?: number;
  readonly stallMs?: number;
  readonly timeoutMs?: number;
  readonly retries?: number;
  readonly killAfterMs?: number;
}

/** Worker to host. */
export type RequestMessage =
  /** A request while none of the worker's calls is in flight. */
  | {
    readonly heddle: "request";
    readonly request: number;
    readonly isSync: boolean;
    readonly values: PackedValues;
  }
  /** The signal of a nested call was aborted. */
  | { readonly heddle: "requestAbort"; readonly request: number; readonly reason: PackedValues };

/** Host to worker: an ordinary message; on the payload port if the worker waits for it with its thread. */
export interface AnswerMessage {
  readonly heddle: "answer";
  readonly request: number;
  readonly isThrown: boolean;
  /** The result or the error, one value. */
  readonly value: PackedValues;
}
