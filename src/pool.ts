/**
 * `createPool`: finds the tasks, has the host's side of a pool made (`wiring.ts`), hands out the typed calls
 * (`call-proxy.ts`) and owns the shutdown.
 */
import { type CallProxy, createCallProxy } from "./call-proxy.ts";
import { isRecord, show } from "./checks.ts";
import { describeSignature, type Signature } from "./codec/struct/signature.ts";
import type { TaskSource } from "./endpoint/worker-start.ts";
import {
  InvalidArgumentError,
  NestedPoolError,
  PoolClosedError,
  TimeoutError,
  type WorkerLostError,
  WorkerStartError,
} from "./errors.ts";
import {
  checkShutdown,
  type PoolOptions,
  resolveOptions,
  type ShutdownOptions,
} from "./options.ts";
import { ActiveCount } from "./park/active-count.ts";
import type { Pool, PoolEvents, PoolStatistics } from "./pool-types.ts";
import { callerOf } from "./realm/call-site.ts";
import { workerRealm } from "./realm/worker-realm.ts";
import { currentRuntime } from "./runtimes/current.ts";
import { MAX_TIMER_MS, type Runtime } from "./runtimes/runtime.ts";
import { declaredBy, functionOf, locateTask, settingsOfTask, type TaskMap } from "./task.ts";
import { type PoolParts, type PoolSpec, wire } from "./wiring.ts";

/** How long `shutdown()` waits for calls in flight. */
const DRAIN_MS = 5000;

/**
 * False in a heddle worker, true everywhere else: also in worker threads of other origin (a test runner's), and in
 * modules that are imported and not the program's entry. Guard with it what must not run again when workers import the
 * module; ask the runtime (`import.meta.main`) whether a module is the entry.
 */
export const isMain: boolean = workerRealm() === undefined;

/**
 * Starts workers for a set of tasks.
 *
 * Workers import the modules of the tasks, so the call belongs behind `if (isMain)`. An idle pool
 * does not keep the process running (option `keepAlive`); calls in flight do.
 *
 * @example
 * ```ts
 * import { createPool, isMain } from "heddle";
 *
 * export const add = (a: number, b: number) => a + b;
 *
 * if (isMain) {
 *   const pool = createPool({ threads: 2 })({ add });
 *   console.log(await pool.call.add(1, 2));
 *   await pool.shutdown();
 * }
 * ```
 */
export function createPool(
  options: PoolOptions = {},
): <Tasks extends TaskMap>(tasks: Tasks) => Pool<Tasks> {
  const realm = workerRealm();
  if (realm?.isLoading === true) throw new NestedPoolError();
  if (arguments.length > 1) {
    throw new InvalidArgumentError(
      "createPool() takes options and nothing else; its result takes the tasks: createPool(options)(tasks).",
    );
  }
  const runtime = currentRuntime;
  const resolved = resolveOptions(options, runtime);
  const caller = resolved.moduleUrl ?? callerOf(createPool);
  return (tasks) => {
    const signatures = Object.values(Object(tasks) as TaskMap).map(declaredBy);
    const sources = locateTasks(tasks, signatures, caller, runtime);
    const active = realm?.active ?? [ActiveCount.ofThread()];
    const hostTasks = Object.values(tasks).map((entry, task) => ({
      signature: signatures[task],
      settings: settingsOfTask(entry),
      f: functionOf(entry),
    }));
    const pool = new ThreadPool({
      options: resolved,
      sources,
      tasks: hostTasks,
      runtime,
      active,
      workerEntry: workerEntry(),
    });
    return pool as unknown as Pool<typeof tasks>;
  };
}

function locateTasks(
  tasks: TaskMap,
  signatures: readonly (Signature | undefined)[],
  caller: string | undefined,
  runtime: Runtime,
): readonly TaskSource[] {
  if (!isRecord(tasks)) {
    throw new InvalidArgumentError(
      `A pool takes its tasks as an object, { name: function }, got ${show(tasks)}.`,
    );
  }
  return Object.keys(tasks).map((name, index) => {
    const { location, exportName } = locateTask(name, tasks[name], caller);
    if (location === undefined) {
      throw new InvalidArgumentError(
        `The stack does not tell which module exports task "${name}"; pass ` +
          "createPool({ moduleUrl: import.meta.url }).",
      );
    }
    const declares = describeSignature(signatures[index]);
    const hasSignal = settingsOfTask(tasks[name]).hasSignal === true;
    return { name, moduleUrl: runtime.toModuleUrl(location), exportName, declares, hasSignal };
  });
}

/** Sources and build differ in the extension only; the published package is tested as well. */
function workerEntry(): URL {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return new URL(`./worker/entry.${extension}`, import.meta.url);
}

class ThreadPool extends EventTarget {
  readonly call: CallProxy;
  readonly ready: Promise<void>;
  readonly #runtime: Runtime;
  readonly #keepAlive: boolean;
  readonly #parts: PoolParts;
  readonly #rejectReady: (error: Error) => void;
  #closing: Promise<void> | undefined;
  #onDrained: (() => void) | undefined;
  #hasWarned = false;

  constructor(spec: PoolSpec) {
    super();
    const { options, runtime } = spec;
    this.#runtime = runtime;
    this.#keepAlive = options.keepAlive;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => {}); // whoever asks for `ready` sees it; calls see it too
    this.ready = promise;
    this.#rejectReady = reject;
    this.#parts = wire(spec, {
      onEmpty: () => this.#onEmpty(),
      onReady: resolve,
      onFailed: (error) => this.#fail(error),
      onDrain: () => void this.#emit("drain", {}),
      onUnhandledRejection: (workerId, error) => this.#reportRejection(workerId, error),
      onWorkerLost: (error, wasReported) => this.#reportLoss(error, wasReported),
      onThreadAbandoned: (workerId) => this.#reportAbandoned(workerId),
    });
    const { scheduler, endings, safety, supervisor } = this.#parts;
    this.call = createCallProxy(spec, scheduler, endings);
    if (this.#keepAlive) safety.hold();
    try {
      supervisor.start();
    } catch (error) {
      this.#fail(error as Error);
      throw error;
    }
  }

  get needsDrain(): boolean {
    return this.#parts.backpressure.needsDrain;
  }

  drained(): Promise<void> {
    if (!this.needsDrain) return Promise.resolve();
    return new Promise((resolve) => {
      this.addEventListener("drain", () => resolve(), { once: true });
    });
  }

  stats(): PoolStatistics {
    const { scheduler, supervisor, loop, safety, endings } = this.#parts;
    const { inFlight, waiting, lanes, answers, moved } = scheduler;
    return {
      inFlight: inFlight.size,
      queued: waiting.queued,
      ready: lanes.open.length,
      workersStarted: supervisor.started,
      workersLost: supervisor.lost,
      abandonedThreads: supervisor.abandonedThreads,
      recycled: supervisor.recycled,
      inlined: waiting.inliner?.ran ?? 0,
      moved,
      parks: loop.statistics.parks,
      wakeMessages: loop.statistics.wakeMessages,
      safetyHits: safety.statistics.hits,
      lateWakes: safety.statistics.lateWakes,
      lateAnswers: answers.late,
      timedOut: endings.timedOut,
      aborted: endings.aborted,
    };
  }

  shutdown(options: number | ShutdownOptions = DRAIN_MS): Promise<void> {
    let timeoutMs: number;
    try {
      timeoutMs = checkShutdown(options, DRAIN_MS);
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#closing ??= this.#close(timeoutMs);
  }

  [Symbol.dispose](): void {
    void this.shutdown(0);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  #onEmpty(): void {
    if (!this.#keepAlive) this.#parts.safety.release();
    this.#onDrained?.();
  }

  async #close(timeoutMs: number): Promise<void> {
    const { scheduler, supervisor, loop } = this.#parts;
    scheduler.refuse(new PoolClosedError());
    supervisor.drain();
    loop.kick(); // calls whose submission a stack overflow has cut off are settled there
    if (scheduler.inFlight.size > 0 && timeoutMs > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onDrained = resolve;
      const timer = timeoutMs <= MAX_TIMER_MS
        ? this.#runtime.setTimeout(resolve, timeoutMs)
        : undefined;
      await promise;
      timer?.clear();
    }
    const unfinished = "The pool was closed before this call was answered.";
    await this.#end(new PoolClosedError(), () => new PoolClosedError(unfinished));
  }

  /** The pool cannot work: what waits and what comes later is rejected with `error`. */
  #fail(error: Error): void {
    this.#parts.scheduler.refuse(error);
    void this.#end(error, () => error);
  }

  /** Rejects what is unfinished and stops all that runs. */
  #end(closed: Error, unfinished: () => Error): Promise<void> {
    const { scheduler, supervisor, safety, timekeeper, endings, lastOutput } = this.#parts;
    this.#rejectReady(closed);
    endings.tellAll(unfinished());
    scheduler.rejectAll(unfinished);
    safety.stop();
    timekeeper.stop();
    lastOutput.stop();
    return supervisor.close();
  }

  #reportRejection(workerId: number, error: Error): void {
    if (this.#emit("unhandledRejection", { workerId, error })) {
      this.#runtime.warn(`heddle: unhandled rejection in worker ${workerId}:`, error);
    }
  }

  /** Prints an exception that ended a worker, unless a call was rejected with it: it would be seen nowhere. */
  #reportLoss(error: WorkerLostError, wasReported: boolean): void {
    const { cause, workerId } = error;
    const isNews = this.#emit("workerLost", { error }) && !wasReported;
    if (!isNews || this.#runtime.printsUncaught || cause === undefined) return;
    if (cause instanceof TimeoutError || cause instanceof WorkerStartError) return; // of heddle's own
    this.#runtime.warn(`heddle: uncaught exception in worker ${workerId}:`, cause);
  }

  /** Prints the first one. */
  #reportAbandoned(workerId: number): void {
    const { abandonedThreads } = this.#parts.supervisor;
    const isHandled = !this.#emit("threadAbandoned", { workerId, abandonedThreads });
    if (isHandled || this.#hasWarned) return;
    this.#hasWarned = true;
    this.#runtime.warn(
      `heddle: worker ${workerId} was stopped, but its thread goes on: this runtime stops none that loops or blocks. ` +
        "Tasks should ask their signal (task({ abortSignal: true }), signal.hasAborted()).",
    );
  }

  /** False if a listener called `preventDefault()`. */
  #emit<Name extends keyof PoolEvents>(name: Name, detail: PoolEvents[Name]): boolean {
    return this.dispatchEvent(new CustomEvent(name, { detail, cancelable: true }));
  }
}
