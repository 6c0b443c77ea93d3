/** `createPool` in Knitting's form. A call is heddle's own; only the reasons of rejections are translated. */
import {
  type Call as TypedCall,
  type CallPlace,
  createPool as heddleCreatePool,
  DataCloneError,
  isMain,
  PayloadTooLargeError,
  PoolClosedError,
  type TaskMap,
  TimeoutError,
  WorkerStartError,
} from "heddle";
import { abortCapacityOf, heddleOptions, ignoredOptions } from "./options.ts";
import { placeOf } from "./place.ts";
import { afterTimeout } from "./timeouts.ts";
import type { AnyFunction, Closable, CreatePool, Pool, Tasks } from "./types.ts";
import { UnsupportedError } from "./unsupported.ts";

const MAX_TASKS = 2 ** 16;
/** What abort-aware calls beyond the capacity reject with. */
const EXHAUSTED = Symbol.for("knitting.abortSignal.poolExhausted");

type Call = (value?: unknown) => Promise<unknown>;
type HeddleCall = TypedCall<(...args: unknown[]) => Promise<unknown>>;

type AnyPool = Closable & { readonly call: Readonly<Record<string, Call>> };

/** What calls and errors of a pool need to know of it. Has no reference to the pool, which its errors must not keep. */
interface State {
  isClosing: boolean;
  /** Abort-aware calls in flight. */
  abortable: number;
  close: () => void;
}

/**
 * Starts workers; the result takes the tasks: functions that the calling module exports, and declared tasks. In workers
 * nothing is started, and calls throw.
 */
export function createPool(options: CreatePool): <T extends Tasks>(tasks: T) => Pool<T> {
  const place = placeOf(createPool as AnyFunction);
  return ((tasks: Record<string, unknown>) =>
    createPoolAt(options, place, tasks)) as unknown as ReturnType<typeof createPool>;
}

/** A pool whose module is that of `place`. */
export function createPoolAt(
  options: CreatePool,
  place: CallPlace | undefined,
  tasks: Readonly<Record<string, unknown>>,
): AnyPool {
  if (!isMain) return inertPool(tasks);
  const names = Object.keys(tasks);
  if (names.length > MAX_TASKS) {
    throw new RangeError(`Too many tasks: received ${names.length}. Maximum is ${MAX_TASKS}.`);
  }
  const { worker, debug } = options;
  const state: State = { isClosing: false, abortable: 0, close: () => {} };
  const pool = heddleCreatePool({
    ...heddleOptions(options, place, Object.values(tasks).some(isAbortable)),
    mapError: (reason) => translate(reason, state),
  })(tasks as unknown as TaskMap);
  const handle = new WeakRef(pool);
  state.close = () => void handle.deref()?.shutdown(0);
  report(debug, options);
  const capacity = abortCapacityOf(options);
  const calls = pool.call as unknown as Readonly<Record<string, HeddleCall>>;
  const call = Object.fromEntries(names.map((name) => {
    const task = tasks[name] as object;
    const make = isAbortable(task) ? abortableCall : plainCall;
    return [name, make(calls[name]!, state, task, capacity)];
  }));
  const drainMs = worker?.resolveAfterFinishingAll === true ? Infinity : 0;
  let closing: Promise<void> | undefined;
  const close = async (delayMs: number): Promise<void> => {
    if (delayMs > 0) await new Promise<void>((resolve) => setTimeout(resolve, delayMs));
    state.isClosing = true;
    await pool.shutdown(drainMs);
  };
  const shutdown = (delayMs?: number): Promise<void> =>
    closing ??= close(Number.isFinite(delayMs) ? Math.floor(delayMs!) : 0);
  return { shutdown, [Symbol.dispose]: () => void shutdown(), call };
}

function isAbortable(task: unknown): boolean {
  return (task as { readonly abortSignal?: unknown }).abortSignal === true;
}

/** Tasks take one argument, also if an array's `map` passes more. */
function plainCall(call: HeddleCall, state: State, task: object): Call {
  return (value) =>
    state.isClosing ? closed() : afterTimeout(value === undefined ? call() : call(value), task);
}

const closed = (): Promise<never> => Promise.reject(new Error("Pool is shut down"));

/** An abort-aware call. Its argument is always passed, since the signal is the second one. */
function abortableCall(call: HeddleCall, state: State, task: object, capacity: number): Call {
  const onOver = (): void => void state.abortable--;
  return (value) => {
    if (state.isClosing || state.abortable >= capacity) {
      const refused = state.isClosing ? closed() : Promise.reject(EXHAUSTED);
      return Object.assign(refused, { reject: () => {} });
    }
    const controller = new AbortController();
    const promise = afterTimeout(call.with({ signal: controller.signal })(value), task);
    state.abortable++;
    promise.then(onOver, onOver);
    return Object.assign(promise, { reject: (reason?: unknown) => controller.abort(reason) });
  };
}

/** The reason with which Knitting's call would reject. */
function translate(reason: unknown, state: State): unknown {
  if (reason instanceof TimeoutError) {
    if (reason.kind === "run") return new Error("Task timeout", { cause: reason });
    if (reason.kind !== "hard" || reason.limitMs === undefined) return reason;
    state.isClosing = true;
    state.close();
    return new Error(
      `Task hard timeout after ${reason.limitMs}ms; pool force-shutdown`,
      { cause: reason },
    );
  }
  if (reason instanceof PayloadTooLargeError) return coded(3, reason);
  if (reason instanceof DataCloneError) {
    if (reason.message.includes("symbol")) return coded(1, reason);
    return coded(reason.message.includes("function") ? 0 : 3, reason);
  }
  if (reason instanceof PoolClosedError) return "Thread closed";
  if (reason instanceof WorkerStartError) {
    const { cause } = reason;
    const text = cause instanceof Error ? cause.message : reason.message;
    return new Error(`Worker startup failed: ${text}`, { cause: reason });
  }
  return reason;
}

/** KNT_ERROR_0: a function; 1: a symbol that is not registered; 3: another value that cannot be sent, or is too large. */
function coded(code: 0 | 1 | 3, cause: Error): Error {
  return new Error(`KNT_ERROR_${code}: ${cause.message}`, { cause });
}

/** Says once which of the given options have no effect. */
function report(debug: CreatePool["debug"], options: CreatePool): void {
  const isOn = typeof debug === "object" ? Object.values(debug).includes(true) : debug === true;
  const ignored = isOn ? ignoredOptions(options) : [];
  if (ignored.length === 0) return;
  console.error(`[host] @heddle/knitting: options without effect: ${ignored.join(", ")}`);
}

/** The pool of a module that a worker loads. */
function inertPool(tasks: Readonly<Record<string, unknown>>): AnyPool {
  const refuse = (): never => {
    throw new UnsupportedError(
      "createPool can only be called in the main thread. Guard calls at the top of a module with " +
        "`if (isMain)`: workers load the module too.",
    );
  };
  return {
    shutdown: () => Promise.resolve(),
    [Symbol.dispose]: () => {},
    call: Object.fromEntries(Object.keys(tasks).map((name) => [name, refuse])),
  };
}
