/**
 * The internal part of a pool, behind its public handles (the pool, its functions): dispatches events and closes.
 *
 * Threads, listeners and timers of a pool reference this object but no handle, so that an unused pool can be collected.
 * While calls are in flight or workers start, this object keeps the handle, for events and `ready`.
 */
import { CustomEvent, FinalizationRegistry, Map, Promise, WeakRef } from "../../builtins.ts";
import {
  PoolClosedError,
  TimeoutError,
  type WorkerLostError,
  WorkerStartError,
} from "../../errors.ts";
import type { PoolEvents } from "../observe/pool-events.ts";
import type { PoolStatistics } from "./pool-statistics.ts";
import { rareParts } from "./later.ts";
import type { WorkerExit } from "../../host/workers/supervisor.ts";
import type { Learned, ModuleTasks } from "../tasks/module-tasks.ts";
import { MAX_TIMER_MS, type Runtime, type Timer } from "../../runtimes/runtime.ts";
import type { PoolSpec } from "../tasks/pool-spec.ts";
import { type PoolParts, wire } from "./wiring.ts";

/** What the core asks of the handle, which it does not reference. */
export interface OfHandle {
  /** Makes the tasks of a module pool known to the calls of `handle`. */
  publish(handle: EventTarget): void;
  /** `error`, with the stack of the creation of `handle`. */
  placeError(handle: EventTarget, error: Error): Error;
}

/** Delay from the collection of a pool to its shutdown: most programs that leave a pool open are about to end. */
const FORGOTTEN_MS = 1000;

const NOT_BEGUN = "The pool was closed before this call began.";

export class PoolCore {
  /** Whether this thread has printed the warning about pools that were collected while open. */
  static #hasWarnedOfForgotten = false;

  readonly ready: Promise<void>;
  readonly parts: PoolParts;
  readonly #spec: PoolSpec;
  readonly #runtime: Runtime;
  /** When each worker was ready, by `Runtime.coarseNow`. */
  readonly #readyMs = new Map<number, number>();
  readonly #keepAlive: boolean;
  readonly #rejectReady: (error: Error) => void;
  readonly #handle: WeakRef<EventTarget>;
  readonly #ofHandle: OfHandle;
  readonly #registry: FinalizationRegistry<undefined>;
  /** Set while the handle must not be collected. */
  #keptHandle: EventTarget | undefined;
  /** Whether the description of the tasks is being read by code that is loaded first. */
  isLearning = false;
  #isForgotten = false;
  #isReady = false;
  #closing: Promise<void> | undefined;
  /** Ends the time that calls in flight have, while the pool waits for them. */
  #closeTimer: Timer | undefined;
  #closeAtMs = Infinity;
  #onDrained: (() => void) | undefined;
  #hasWarned = false;

  /** `moduleTasks`: those of a module pool. */
  constructor(
    spec: PoolSpec,
    handle: EventTarget,
    moduleTasks: ModuleTasks | undefined,
    ofHandle: OfHandle,
  ) {
    const { options, runtime } = spec;
    this.#ofHandle = ofHandle;
    this.#spec = spec;
    this.#runtime = runtime;
    this.#keepAlive = options.keepAlive;
    this.#keptHandle = handle;
    this.#handle = new WeakRef(handle);
    this.#registry = new FinalizationRegistry(() => this.#onForgotten());
    this.#registry.register(handle, undefined, this);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => {}); // users of `ready` and calls get the error
    this.ready = promise;
    this.#rejectReady = reject;
    let isPublished = false;
    this.parts = wire(spec, {
      onTasks: (packed) => {
        const learned = moduleTasks!.learn(packed);
        const tell = (error: Learned): Learned => {
          const handle = this.#handle.deref();
          if (!isPublished && error === undefined && handle !== undefined) ofHandle.publish(handle);
          isPublished ||= error === undefined;
          return error;
        };
        this.isLearning = learned instanceof Promise;
        return learned instanceof Promise ? learned.then(tell) : tell(learned);
      },
      onBusy: () => this.#onBusy(),
      onEmpty: () => this.#onEmpty(),
      onOnlyIdleStreams: () => {
        if (!this.#keepAlive) this.parts.safety.unref();
      },
      onReady: () => {
        this.#isReady = true;
        this.#letGo();
        resolve();
      },
      onUnavailable: (error, threads) => this.#reportUnavailable(error, threads),
      onFailed: (error) => this.#fail(error),
      onDrain: () => void this.#emit("drain", {}),
      onUnhandledRejection: (workerId, error) => this.#reportRejection(workerId, error),
      onMessage: (workerId, message) => void this.#emit("message", { workerId, message }),
      onWorkerStart: (workerId) => this.#reportStart(workerId),
      onWorkerExit: (exit, error) => this.#reportExit(exit, error),
      onThreadAbandoned: (workerId) => this.#reportAbandoned(workerId),
    });
  }

  /** Starts the workers. Rethrows an error of starting a thread. */
  start(): void {
    const { safety, supervisor } = this.parts;
    if (this.#keepAlive) safety.ref();
    try {
      supervisor.start();
    } catch (error) {
      this.#fail(error as Error);
      throw error;
    }
  }

  get isClosing(): boolean {
    return this.#closing !== undefined;
  }

  stats(): PoolStatistics {
    return rareParts().readStatistics(this.#spec, this.parts, this.#readyMs);
  }

  /** Closes the pool once. Later calls return the same promise. */
  shutdown(timeoutMs: number, isQueuedRun = true): Promise<void> {
    return this.#closing ??= this.#close(timeoutMs, isQueuedRun);
  }

  /** A further `shutdown`: it may shorten the time of the first, and reject what waits. */
  hasten(timeoutMs: number | undefined, isQueuedRun: boolean): Promise<void> | undefined {
    if (this.#closing === undefined) return undefined;
    if (!isQueuedRun) this.parts.dispatcher.rejectQueued(() => new PoolClosedError(NOT_BEGUN));
    if (timeoutMs !== undefined) this.#closeWithin(timeoutMs);
    return this.#closing;
  }

  #closeWithin(timeoutMs: number): void {
    const atMs = this.#runtime.now() + timeoutMs;
    if (this.#onDrained === undefined || timeoutMs > MAX_TIMER_MS || atMs >= this.#closeAtMs) {
      return;
    }
    this.#closeTimer?.clear();
    this.#closeAtMs = atMs;
    this.#closeTimer = this.#runtime.setTimeout(this.#onDrained, timeoutMs);
  }

  #onBusy(): void {
    this.parts.dispatcher.inFlight.notifiesEmpty = true;
    if (this.#keptHandle === undefined) this.#keptHandle = this.#handle.deref();
  }

  #onEmpty(): void {
    if (!this.#keepAlive) this.parts.safety.unref();
    this.#onDrained?.();
    this.#letGo();
    if (this.#isForgotten) this.#onForgotten();
  }

  /** Allows the collection of the handle if no event or promise still needs it. */
  #letGo(): void {
    const { inFlight } = this.parts.dispatcher;
    if (!this.#isReady || this.#keepAlive) return;
    if (inFlight.size === 0) this.#keptHandle = undefined;
    else inFlight.notifiesEmpty = true;
  }

  /** The handle was collected, so no further call can be made. */
  #onForgotten(): void {
    this.#isForgotten = true;
    this.parts.dispatcher.inFlight.notifiesEmpty = true;
    if (this.#closing !== undefined || this.parts.dispatcher.inFlight.size > 0) return;
    this.#runtime.setTimeout(() => this.#closeForgotten(), FORGOTTEN_MS).unref();
  }

  #closeForgotten(): void {
    if (this.#closing !== undefined) return;
    if (!PoolCore.#hasWarnedOfForgotten) {
      PoolCore.#hasWarnedOfForgotten = true;
      this.#runtime.warn(
        "heddle: a pool that is no longer referenced was closed. Close pools by shutdown() or `await using`; " +
          "keepAlive: true keeps a pool open.",
      );
    }
    void this.shutdown(0);
  }

  async #close(timeoutMs: number, isQueuedRun: boolean): Promise<void> {
    const { dispatcher, supervisor, loop, streams } = this.parts;
    dispatcher.submitter.refuse(new PoolClosedError());
    supervisor.drain();
    if (!isQueuedRun) dispatcher.rejectQueued(() => new PoolClosedError(NOT_BEGUN));
    loop.kick(); // settles calls whose submission was cut off by a stack overflow
    if (dispatcher.inFlight.size > 0 && timeoutMs > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onDrained = resolve;
      dispatcher.inFlight.notifiesEmpty = true;
      this.#closeWithin(timeoutMs);
      const stop = streams.whenUnread(resolve);
      await promise;
      this.#onDrained = undefined;
      this.#closeTimer?.clear();
      stop();
    }
    const unfinished = "The pool was closed before this call got a response.";
    await this.#end(new PoolClosedError(), () => new PoolClosedError(unfinished));
  }

  /** Fails the pool: rejects waiting and future calls with `error`. */
  #fail(reason: Error): void {
    const handle = this.#handle.deref();
    const error = handle === undefined ? reason : this.#ofHandle.placeError(handle, reason);
    this.parts.dispatcher.submitter.refuse(error);
    void this.#end(error, () => error);
  }

  /** Rejects unfinished calls and stops workers and timers. */
  #end(closed: Error, unfinished: () => Error): Promise<void> {
    const { dispatcher, supervisor, safety, deadlines, cancellation, lastOutput } = this.parts;
    this.parts.requests.close();
    this.#rejectReady(closed);
    cancellation.notifyAll(unfinished());
    dispatcher.rejectAll(unfinished);
    this.parts.broadcasts.rejectAll(unfinished);
    safety.stop();
    deadlines.stop();
    lastOutput.stop();
    this.#registry.unregister(this);
    this.#keptHandle = undefined;
    return supervisor.close();
  }

  #reportRejection(workerId: number, error: Error): void {
    if (this.#emit("unhandledRejection", { workerId, error })) {
      this.#runtime.warn(`heddle: unhandled rejection in worker ${workerId}:`, error);
    }
  }

  #reportStart(workerId: number): void {
    const { runtime, options } = this.#spec;
    this.#readyMs.set(workerId, runtime.coarseNow());
    this.parts.observing.printWorker(() => `worker ${workerId} is ready`);
    this.#emit("workerStart", { workerId, name: `${options.workerOptions.name}-${workerId}` });
  }

  /** Prints an exception that ended a worker, unless a call rejected with it or a listener handled it. */
  #reportExit(exit: WorkerExit, error: WorkerLostError | undefined): void {
    const { workerId, reason, exitCode, callsLost, replacedBy } = exit;
    this.#readyMs.delete(workerId);
    this.parts.observing.printWorker(() => describeExit(exit));
    const detail = { workerId, reason, exitCode, callsLost, replacedBy, error };
    const isHandled = !this.#emit("workerExit", detail) || callsLost > 0;
    const cause = error?.cause;
    if (isHandled || cause === undefined || this.#runtime.printsUncaught) return;
    if (cause instanceof TimeoutError || cause instanceof WorkerStartError) return; // errors of heddle itself
    this.#runtime.warn(`heddle: uncaught exception in worker ${workerId}:`, cause);
  }

  /** Dispatches `threadAbandoned`, and prints the first one of the pool. */
  #reportAbandoned(workerId: number): void {
    const { abandonedThreads } = this.parts.supervisor;
    const isHandled = !this.#emit("threadAbandoned", { workerId, abandonedThreads });
    if (isHandled || this.#hasWarned) return;
    this.#hasWarned = true;
    this.#runtime.warn(
      `heddle: worker ${workerId} was stopped, but its thread keeps running: this runtime cannot stop a thread ` +
        "that loops or blocks. Tasks should check their signal (task({ abortSignal: true }), signal.aborted).",
    );
  }

  /** Dispatches `unavailable` after the code that has created the pool, which may add a listener, and prints it. */
  #reportUnavailable(error: Error, threads: number): void {
    this.#runtime.macrotask(() => {
      if (!this.#emit("unavailable", { threads, error })) return;
      const place = threads === 0 ? "on the host, which they may block" : `in ${threads} threads`;
      this.#runtime.warn(
        `heddle: no further thread can start, so the tasks of a pool run ${place}: ${error.message}`,
      );
    });
  }

  /** Dispatches an event. Returns false if a listener called `preventDefault()`. */
  #emit<Name extends keyof PoolEvents>(name: Name, detail: PoolEvents[Name]): boolean {
    const handle = this.#handle.deref();
    return handle === undefined ||
      handle.dispatchEvent(new CustomEvent(name, { detail, cancelable: true }));
  }
}

function describeExit({ workerId, reason, exitCode, callsLost, replacedBy }: WorkerExit): string {
  const next = replacedBy === undefined ? "not replaced" : `replaced by worker ${replacedBy}`;
  return `worker ${workerId} ended: ${reason} (exit code ${exitCode}, ${callsLost} calls lost, ${next})`;
}
