/** The events of a pool, and an event target whose listeners cannot disturb it. */
import { EventTarget, Promise, WeakMap } from "../../builtins.ts";
import type { WorkerLostError } from "../../errors.ts";
import type { Runtime } from "../../runtimes/runtime.ts";

/** Events a pool dispatches, as `CustomEvent` with this detail. */
export interface PoolEvents {
  /** A worker takes calls from now on. */
  workerStart: { readonly workerId: number; readonly name: string };
  /**
   * A worker has ended, for any reason, the end of the pool included. `reason` is a phrase. `exitCode` is undefined if the
   * runtime did not report one. `callsLost`: running calls that rejected with it. `replacedBy`: id of the worker that takes
   * its place, which may start a moment later; undefined: none does. `error`: what its running calls rejected with, if it ended
   * unexpectedly; an exception that nothing caught is its `cause`. If no call rejected with it, the exception is printed
   * unless a listener calls `preventDefault()` (Deno prints every one itself).
   */
  workerExit: {
    readonly workerId: number;
    readonly reason: string;
    readonly exitCode: number | undefined;
    readonly callsLost: number;
    readonly replacedBy: number | undefined;
    readonly error: WorkerLostError | undefined;
  };
  /**
   * A promise in a worker was rejected and not handled there; the worker continues. The error is printed unless a
   * listener calls `preventDefault()`.
   */
  unhandledRejection: { readonly workerId: number; readonly error: Error };
  /** Half of the waiting calls are left after `needsDrain` was true. */
  drain: object;
  /**
   * A worker was stopped and its thread keeps running because it loops or blocks (Deno). The first one of a pool is
   * printed unless a listener calls `preventDefault()`.
   */
  threadAbandoned: { readonly workerId: number; readonly abandonedThreads: number };
}

type Listener = EventListener | EventListenerObject;

/**
 * An `EventTarget` that prints what its listeners throw: runtimes would end the process. A listener runs in the asynchronous
 * context in which it was added, not in that of the call during which something happens.
 */
export class SafeEventTarget extends EventTarget {
  readonly #runtime: Pick<Runtime, "warn" | "bindContext">;
  readonly #wrapped = new WeakMap<Listener, EventListener>();
  readonly #contexts = new WeakMap<Listener, ReturnType<Runtime["bindContext"]>>();

  constructor(runtime: Pick<Runtime, "warn" | "bindContext">) {
    super();
    this.#runtime = runtime;
  }

  override addEventListener(
    name: string,
    listener: Listener | null,
    options?: boolean | AddEventListenerOptions,
  ): void {
    super.addEventListener(name, listener === null ? null : this.#wrap(listener), options);
  }

  override removeEventListener(
    name: string,
    listener: Listener | null,
    options?: boolean | EventListenerOptions,
  ): void {
    super.removeEventListener(name, listener && (this.#wrapped.get(listener) ?? null), options);
  }

  #wrap(listener: Listener): EventListener {
    this.#contexts.set(listener, this.#runtime.bindContext());
    let wrapped = this.#wrapped.get(listener);
    if (wrapped === undefined) {
      const onError = (error: unknown): void =>
        this.#runtime.warn("heddle: a listener of a pool threw:", error);
      wrapped = (event) => {
        try {
          const result: unknown = this.#contexts.get(listener)!(() =>
            typeof listener === "function"
              ? listener.call(this, event)
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
