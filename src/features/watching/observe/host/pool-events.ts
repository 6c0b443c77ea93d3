/** The events of a pool, and an event target whose listeners cannot disturb it. */
import { EventTarget, Promise, WeakMap } from "../../../../builtins.ts";
import { describeValue } from "../../../../codec/support/describe.ts";
import { InvalidArgumentError, type WorkerLostError } from "../../../../errors.ts";
import type { HostRuntime } from "../../../../runtimes/runtime.ts";
import { didYouMean, invalid, isObject } from "../../../../option-checks.ts";

/** Events a pool dispatches, as `CustomEvent` with this detail. */
export interface PoolEvents {
  /** A worker takes calls from now on. */
  workerStart: { readonly workerId: number; readonly name: string };
  /**
   * A worker has ended, for any reason, the end of the pool included. If it ended by an exception that nothing caught and no
   * call rejected with it, the exception is printed unless a listener calls `preventDefault()` (Deno prints every one itself).
   */
  workerExit: {
    readonly workerId: number;
    /** Why it ended, as a phrase: "it was idle". */
    readonly reason: string;
    /** Undefined if the runtime did not report one. */
    readonly exitCode: number | undefined;
    /** Running calls that rejected with it. */
    readonly callsLost: number;
    /** Id of the worker that takes its place, which may start a moment later; undefined: none does. */
    readonly replacedBy: number | undefined;
    /**
     * What its running calls rejected with, if it ended unexpectedly; an exception that nothing caught is its `cause`.
     * Undefined: it was closed on purpose.
     */
    readonly error: WorkerLostError | undefined;
  };
  /**
   * A promise in a worker was rejected and not handled there; the worker continues. The error is printed unless a
   * listener calls `preventDefault()`.
   */
  unhandledRejection: { readonly workerId: number; readonly error: Error };
  /**
   * Code in a worker posted a message to its parent: `parentPort.postMessage(message)`, in a web worker `postMessage(message)`.
   * The number 0 and objects with a key `heddle` are heddle's own.
   */
  message: { readonly workerId: number; readonly message: unknown };
  /** Half of the waiting calls are left after `needsDrain` was true. */
  drain: object;
  /**
   * A worker was stopped and its thread keeps running because it loops or blocks (Deno). The first one of a pool is
   * printed unless a listener calls `preventDefault()`.
   */
  threadAbandoned: { readonly workerId: number; readonly abandonedThreads: number };
  /**
   * No further thread can start (`onUnavailable: "host"`). The pool goes on with the `threads` it has; if they are 0, its tasks
   * run on the host from now on. It is printed unless a listener calls `preventDefault()`.
   */
  unavailable: { readonly threads: number; readonly error: Error };
}

type Listener = EventListener | EventListenerObject;

const NAMES: readonly string[] = [
  "workerStart",
  "workerExit",
  "unhandledRejection",
  "message",
  "drain",
  "threadAbandoned",
  "unavailable",
] satisfies readonly (keyof PoolEvents)[];

/** An `EventTarget` ignores names that nobody dispatches, so a typing error would never be noticed. */
function checkListener(name: unknown, listener: unknown): void {
  if (!NAMES.includes(name as string)) {
    const similar = didYouMean(String(name), NAMES);
    throw new InvalidArgumentError(
      `A pool has no event ${describeValue(name)}${similar} It has: ${NAMES.join(", ")}.`,
    );
  }
  const isListener = listener === null || typeof listener === "function" || isObject(listener);
  if (!isListener) throw invalid("listener", "a function or an object", describeValue(listener));
}

const { addEventListener, removeEventListener } = EventTarget.prototype;

/**
 * The listeners of a pool. What one throws is printed: runtimes would end the process. A listener runs in the asynchronous
 * context in which it was added, not in that of the call during which something happens.
 */
export class PoolListeners {
  readonly #pool: EventTarget;
  readonly #runtime: Pick<HostRuntime, "warn" | "bindContext">;
  readonly #wrapped = new WeakMap<Listener, EventListener>();
  readonly #contexts = new WeakMap<Listener, ReturnType<HostRuntime["bindContext"]>>();

  constructor(pool: EventTarget, runtime: Pick<HostRuntime, "warn" | "bindContext">) {
    this.#pool = pool;
    this.#runtime = runtime;
  }

  readonly add = (
    name: string,
    listener: Listener | null,
    options?: boolean | AddEventListenerOptions,
  ): void => {
    checkListener(name, listener);
    const own = listener === null ? null : this.#wrap(listener);
    addEventListener.call(this.#pool, name, own, options);
  };

  readonly remove = (
    name: string,
    listener: Listener | null,
    options?: boolean | EventListenerOptions,
  ): void => {
    const own = listener && (this.#wrapped.get(listener) ?? null);
    removeEventListener.call(this.#pool, name, own, options);
  };

  #wrap(listener: Listener): EventListener {
    this.#contexts.set(listener, this.#runtime.bindContext());
    let wrapped = this.#wrapped.get(listener);
    if (wrapped === undefined) {
      const pool = this.#pool;
      const onError = (error: unknown): void =>
        this.#runtime.warn("heddle: a listener of a pool threw:", error);
      wrapped = (event) => {
        try {
          const result: unknown = this.#contexts.get(listener)!(() =>
            typeof listener === "function"
              ? listener.call(pool, event)
              : listener.handleEvent(event)
          );
          if (result instanceof Promise) result.catch(onError);
        } catch (error) {
          onError(error);
        }
      };
      this.#wrapped.set(listener, wrapped);
    }
    return wrapped;
  }
}
