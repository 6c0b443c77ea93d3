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
import type { PoolEvents } from "../../features/watching/observe/host/pool-events.ts";
import type { TaskDescription } from "../../protocol/start-data.ts";
import type { WorkerExit } from "../../host/workers/supervisor.ts";
import type { Learned, ModuleTasks } from "../tasks/module-tasks.ts";
import { type HostRuntime, MAX_TIMER_MS, type Timer } from "../../runtimes/runtime.ts";
import type { PoolSpec } from "../tasks/pool-spec.ts";
import { HostSide } from "./wiring.ts";

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

/** Whether this thread has printed the warning about pools that were collected while open. */
let hasWarnedOfForgotten = false;

export class PoolCore extends HostSide {
  readonly ready: Promise<void>;
  readonly #runtime: HostRuntime;
  readonly #moduleTasks: ModuleTasks | undefined;
  /** When each worker was ready, by `HostRuntime.coarseNow`. */
  readonly readyMs: Map<number, number> = new Map();
  readonly #keepAlive: boolean;
  readonly #resolveReady: () => void;
  readonly #rejectReady: (error: Error) => void;
  readonly #handle: WeakRef<EventTarget>;
  readonly #ofHandle: OfHandle;
  readonly #registry: FinalizationRegistry<undefined>;
  /** Set while the handle must not be collected. */
  #keptHandle: EventTarget | undefined;
  /** Whether the description of the tasks is being read by code that is loaded first. */
  isLearning = false;
  #isPublished = false;
  #isForgotten = false;
  #isReady = false;
  #closing: Promise<void> | undefined;
  /** Ends the time that calls in flight have, while the pool waits for them. */
  #closeTimer: Timer | undefined;
  #closeAtMs = Infinity;
  #onDrained: (() => void) | undefined;
  /** Ends the watches of streams that nobody reads. */
  #stopWatching: (() => void)[] = [];
  #hasWarned = false;

  /** `moduleTasks`: those of a module pool. Rethrows an error of starting a thread. */
  constructor(
    spec: PoolSpec,
    handle: EventTarget,
    moduleTasks: ModuleTasks | undefined,
    ofHandle: OfHandle,
  ) {
    super(spec);
    this.#ofHandle = ofHandle;
    this.#runtime = spec.runtime;
    this.#moduleTasks = moduleTasks;
    this.#keepAlive = spec.options.keepAlive;
    this.#keptHandle = handle;
    this.#handle = new WeakRef(handle);
    this.#registry = new FinalizationRegistry(() => this.#onForgotten());
    this.#registry.register(handle, undefined, this);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => {}); // users of `ready` and calls get the error
    this.ready = promise;
    this.#resolveReady = resolve;
    this.#rejectReady = reject;
  }

  /** Starts the workers. Rethrows an error of starting a thread. */
  start(): void {
    if (this.#keepAlive) this.safety.ref();
    try {
      this.supervisor.start();
    } catch (error) {
      this.onFailed(error as Error);
      throw error;
    }
  }

  get isClosing(): boolean {
    return this.#closing !== undefined;
  }

  /** Closes the pool once. Later calls return the same promise. */
  shutdown(timeoutMs: number, isQueuedRun = true): Promise<void> {
    return this.#closing ??= this.#close(timeoutMs, isQueuedRun);
  }

  /** A further `shutdown`: it may shorten the time of the first, and reject what waits. */
  hasten(timeoutMs: number | undefined, isQueuedRun: boolean): Promise<void> | undefined {
    if (this.#closing === undefined) return undefined;
    if (!isQueuedRun) this.dispatcher.rejectQueued(() => new PoolClosedError(NOT_BEGUN));
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

  /** A worker describes the tasks of the pool's module. Returns an error if the pool cannot use it. */
  override onTasks(tasks: readonly TaskDescription[]): Learned | Promise<Learned> {
    const learned = this.#moduleTasks!.learn(tasks);
    this.isLearning = learned instanceof Promise;
    if (learned instanceof Promise) return learned.then((error) => this.#onLearned(error));
    return this.#onLearned(learned);
  }

  #onLearned(error: Learned): Learned {
    if (error !== undefined || this.#isPublished) return error;
    this.#isPublished = true;
    const handle = this.#handle.deref();
    if (handle !== undefined) this.#ofHandle.publish(handle);
    return error;
  }

  /** Calls are in flight, and the host is about to wait. */
  override onBusy(): void {
    this.dispatcher.inFlight.notifiesEmpty = true;
    if (this.#keptHandle === undefined) this.#keptHandle = this.#handle.deref();
  }

  /** No call is in flight any more. */
  override onEmpty(): void {
    if (!this.#keepAlive) this.safety.unref();
    this.#onDrained?.();
    this.#letGo();
    if (this.#isForgotten) this.#onForgotten();
  }

  /** Only calls are in flight whose streams nobody waits for. */
  override onOnlyIdleStreams(): void {
    if (!this.#keepAlive) this.safety.unref();
    this.#watchUnread();
  }

  /** The pool waits for calls in flight, and perhaps only for streams that nobody reads. */
  #watchUnread(): void {
    const onDrained = this.#onDrained;
    const { inFlight } = this.dispatcher;
    if (onDrained === undefined || inFlight.hasAwaitedCalls) return;
    if (this.#stopWatching.length > 0) return;
    for (const part of this.parts.values()) {
      const stop = part.onUnread?.(onDrained);
      if (stop !== undefined) this.#stopWatching.push(stop);
    }
  }

  /** The minimum number of workers is ready for the first time. */
  override onReady(): void {
    this.#isReady = true;
    this.#letGo();
    this.#resolveReady();
  }

  /** Allows the collection of the handle if no event or promise still needs it. */
  #letGo(): void {
    const { inFlight } = this.dispatcher;
    if (!this.#isReady || this.#keepAlive) return;
    if (inFlight.size === 0) this.#keptHandle = undefined;
    else inFlight.notifiesEmpty = true;
  }

  /** The handle was collected, so no further call can be made. */
  #onForgotten(): void {
    this.#isForgotten = true;
    this.dispatcher.inFlight.notifiesEmpty = true;
    if (this.#closing !== undefined || this.dispatcher.inFlight.size > 0) return;
    this.#runtime.setTimeout(() => this.#closeForgotten(), FORGOTTEN_MS).unref();
  }

  #closeForgotten(): void {
    if (this.#closing !== undefined) return;
    if (!hasWarnedOfForgotten) {
      hasWarnedOfForgotten = true;
      this.#runtime.warn(
        "heddle: a pool that is no longer referenced was closed. Close pools by shutdown() or `await using`; " +
          "keepAlive: true keeps a pool open.",
      );
    }
    void this.shutdown(0);
  }

  async #close(timeoutMs: number, isQueuedRun: boolean): Promise<void> {
    const { dispatcher, supervisor, loop } = this;
    dispatcher.submitter.refuse(new PoolClosedError());
    supervisor.drain();
    if (!isQueuedRun) dispatcher.rejectQueued(() => new PoolClosedError(NOT_BEGUN));
    loop.kick(); // settles calls whose submission was cut off by a stack overflow
    if (dispatcher.inFlight.size > 0 && timeoutMs > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onDrained = resolve;
      dispatcher.inFlight.notifiesEmpty = true;
      this.#closeWithin(timeoutMs);
      this.#watchUnread();
      await promise;
      this.#onDrained = undefined;
      this.#closeTimer?.clear();
      for (const stop of this.#stopWatching) stop();
    }
    const unfinished = "The pool was closed before this call got a response.";
    await this.#end(new PoolClosedError(), () => new PoolClosedError(unfinished));
  }

  /** Fails the pool: rejects waiting and future calls with `error`. */
  override onFailed(reason: Error): void {
    const handle = this.#handle.deref();
    const error = handle === undefined ? reason : this.#ofHandle.placeError(handle, reason);
    this.dispatcher.submitter.refuse(error);
    void this.#end(error, () => error);
  }

  /** Rejects unfinished calls and stops workers and timers. */
  #end(closed: Error, unfinished: () => Error): Promise<void> {
    const { dispatcher } = this;
    this.isOver = true;
    this.#rejectReady(closed);
    if (dispatcher.inFlight.size > 0) {
      const reason = unfinished();
      for (const part of this.parts.values()) part.onPoolEnding?.(reason);
    }
    dispatcher.rejectAll(unfinished);
    for (const part of this.parts.values()) part.onPoolEnd?.(unfinished);
    this.safety.stop();
    this.stopOutput();
    this.#registry.unregister(this);
    this.#keptHandle = undefined;
    return this.supervisor.close();
  }

  override onDrain(): void {
    this.#emit("drain", {});
  }

  /** A worker's code posted a message of its own. */
  override onMessage(workerId: number, message: unknown): void {
    this.#emit("message", { workerId, message });
  }

  override onUnhandledRejection(workerId: number, error: Error): void {
    if (this.#emit("unhandledRejection", { workerId, error })) {
      this.#runtime.warn(`heddle: unhandled rejection in worker ${workerId}:`, error);
    }
  }

  override onWorkerStart(workerId: number): void {
    const { name } = this.spec.options.workerOptions;
    this.readyMs.set(workerId, this.#runtime.coarseNow());
    for (const part of this.parts.values()) part.onWorkerStart?.(workerId);
    this.#emit("workerStart", { workerId, name: `${name}-${workerId}` });
  }

  /** Prints an exception that ended a worker, unless a call rejected with it or a listener handled it. */
  override onWorkerExit(exit: WorkerExit, error: WorkerLostError | undefined): void {
    const { workerId, reason, exitCode, callsLost, replacedBy } = exit;
    this.readyMs.delete(workerId);
    for (const part of this.parts.values()) part.onWorkerExit?.(exit);
    const detail = { workerId, reason, exitCode, callsLost, replacedBy, error };
    const isHandled = !this.#emit("workerExit", detail) || callsLost > 0;
    const cause = error?.cause;
    if (isHandled || cause === undefined || this.#runtime.printsUncaught) return;
    if (cause instanceof TimeoutError || cause instanceof WorkerStartError) return; // errors of heddle itself
    this.#runtime.warn(`heddle: uncaught exception in worker ${workerId}:`, cause);
  }

  /** Dispatches `threadAbandoned`, and prints the first one of the pool. */
  override onThreadAbandoned(workerId: number): void {
    const { abandonedThreads } = this.supervisor;
    const isHandled = !this.#emit("threadAbandoned", { workerId, abandonedThreads });
    if (isHandled || this.#hasWarned) return;
    this.#hasWarned = true;
    this.#runtime.warn(
      `heddle: worker ${workerId} was stopped, but its thread keeps running: this runtime cannot stop a thread ` +
        "that loops or blocks. Tasks should check their signal (task({ abortSignal: true }), signal.aborted).",
    );
  }

  /** Dispatches `unavailable` after the code that has created the pool, which may add a listener, and prints it. */
  override onUnavailable(error: Error, threads: number): void {
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
