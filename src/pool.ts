/**
 * `createPool`: the composition root. Builds the host's side of a pool, hands out the typed calls and
 * owns the shutdown.
 */
import { Codec } from "./codec/codec.ts";
import { textOf } from "./codec/fault.ts";
import { describeSignature, type Signature } from "./codec/struct/signature.ts";
import { maxInlineBytes } from "./endpoint/endpoint.ts";
import { Holder } from "./endpoint/hold.ts";
import { HOST_CONTROL_BYTES, HOST_PARKED_WORD } from "./endpoint/lane-layout.ts";
import { ServiceTimes, serviceTimesBytes } from "./endpoint/service-times.ts";
import type { TaskSource } from "./endpoint/worker-start.ts";
import {
  InvalidArgumentError,
  NestedPoolError,
  PoolClosedError,
  UnknownTaskError,
  type WorkerLostError,
} from "./errors.ts";
import { Backpressure } from "./host/backpressure.ts";
import { createChooser } from "./host/balancers.ts";
import { HostLoop } from "./host/host-loop.ts";
import { Inliner } from "./host/inliner.ts";
import type { Reject, Resolve } from "./host/in-flight.ts";
import type { LaneOptions } from "./host/lane.ts";
import { type Receiver, SafetyCheck } from "./host/safety-check.ts";
import { Scheduler } from "./host/scheduler.ts";
import { Supervisor } from "./host/supervisor.ts";
import {
  AUTO_QUEUE_PER_THREAD,
  type PoolOptions,
  type ResolvedOptions,
  resolveOptions,
} from "./options.ts";
import { ActiveCount, type SharedWord } from "./park/active-count.ts";
import { HostParker } from "./park/host-word.ts";
import { callerOf } from "./realm/call-site.ts";
import { workerRealm } from "./realm/worker-realm.ts";
import { currentRuntime } from "./runtimes/current.ts";
import type { Runtime } from "./runtimes/runtime.ts";
import {
  type CallOptions,
  type Calls,
  checkCallOptions,
  declaredBy,
  functionOf,
  locateTask,
  priorityOf,
  type TaskMap,
} from "./task.ts";

/** How long `shutdown()` waits for calls in flight. */
const DRAIN_MS = 5000;
/** Longest delay a timer can have; longer ones fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * False in a heddle worker, true everywhere else: in the main thread, and in threads of other making
 * such as a test runner's. Guard with it what must not run again when workers import the module.
 */
export const isMain: boolean = workerRealm() === undefined;

/** Shared by all pools of this thread: how many of their workers are awake. */
let activeOfThread: SharedWord | undefined;

/** A snapshot of what a pool is doing and has done. */
export interface PoolStatistics {
  /** Calls not settled yet. */
  readonly inFlight: number;
  /** Of those, calls waiting on the host for a worker. */
  readonly queued: number;
  /** Workers ready for calls. */
  readonly ready: number;
  readonly workersStarted: number;
  readonly workersLost: number;
  /** Calls run by the host itself (option `inliner`). */
  readonly inlined: number;
  /** Calls taken back from a busy worker and given to one that had nothing to do. */
  readonly moved: number;
  /** Times the host parked with calls outstanding, and wake messages it got. */
  readonly parks: number;
  readonly wakeMessages: number;
  /** Lost wake-ups found by the safety check: always 0, or a bug. */
  readonly safetyHits: number;
  /** Wake messages that took longer than the check's interval. */
  readonly lateWakes: number;
  /** Answers to calls that had been settled otherwise. */
  readonly lateAnswers: number;
}

/** Events a pool dispatches, as `CustomEvent` with this detail. */
export interface PoolEvents {
  /**
   * A promise in a worker was rejected and not handled there; the worker goes on. Printed unless a
   * listener calls `preventDefault()`.
   */
  unhandledRejection: { readonly workerId: number; readonly error: Error };
  /** So many calls waited that `needsDrain` was set; half of them are left. */
  drain: object;
  /** A worker ended unasked; its calls were rejected with the same kind of error. */
  workerLost: { readonly error: WorkerLostError };
}

/** A pool of workers. Create it with {@link createPool}. */
export interface Pool<Tasks extends TaskMap> extends AsyncDisposable, Disposable {
  /** The tasks as local async functions. */
  readonly call: Calls<Tasks>;
  /** Resolves when all workers are ready; rejects if the task modules cannot be loaded. */
  readonly ready: Promise<void>;
  /**
   * Whether so many calls wait on the host (`maxQueue`, at most 1024 for each worker) that whoever makes
   * them should pause until the event "drain", or `await pool.drained()`.
   */
  readonly needsDrain: boolean;
  /** Resolves when `needsDrain` is false. */
  drained(): Promise<void>;
  stats(): PoolStatistics;
  /**
   * Closes the pool: new calls reject with PoolClosedError at once; calls in flight get up to
   * `timeoutMs` (default 5000, `Infinity` to wait for all) to finish, then reject with PoolClosedError. Resolves when no worker
   * is left. Calling it again returns the same promise.
   */
  shutdown(timeoutMs?: number): Promise<void>;
  addEventListener<Name extends keyof PoolEvents>(
    name: Name,
    listener: (event: CustomEvent<PoolEvents[Name]>) => void,
  ): void;
  removeEventListener<Name extends keyof PoolEvents>(
    name: Name,
    listener: (event: CustomEvent<PoolEvents[Name]>) => void,
  ): void;
}

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
  const runtime = currentRuntime;
  const resolved = resolveOptions(options, runtime.cores);
  const caller = resolved.moduleUrl ?? callerOf(createPool);
  return (tasks) => {
    const signatures = Object.values(Object(tasks) as TaskMap).map(declaredBy);
    const sources = locateTasks(tasks, signatures, caller, runtime);
    const active = realm?.active ?? [activeOfThread ??= ActiveCount.create()];
    const hostTasks = Object.values(tasks).map((entry, task) => ({
      signature: signatures[task],
      priority: priorityOf(entry),
      f: functionOf(entry),
    }));
    const pool = new ThreadPool(resolved, sources, hostTasks, runtime, active);
    return pool as unknown as Pool<typeof tasks>;
  };
}

function locateTasks(
  tasks: TaskMap,
  signatures: readonly (Signature | undefined)[],
  caller: string | undefined,
  runtime: Runtime,
): readonly TaskSource[] {
  if (typeof tasks !== "object" || tasks === null) {
    throw new InvalidArgumentError(`A pool needs an object of tasks, got ${textOf(tasks)}.`);
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
    return { name, moduleUrl: runtime.toModuleUrl(location), exportName, declares };
  });
}

/** Sources and build differ in the extension only; the published package is tested as well. */
function workerEntry(): URL {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return new URL(`./worker/entry.${extension}`, import.meta.url);
}

/** What the host knows of a task. */
interface HostTask {
  readonly signature: Signature | undefined;
  readonly priority: number;
  /** The function, unless only workers load it. */
  readonly f: ((...args: unknown[]) => unknown) | undefined;
}

class ThreadPool extends EventTarget {
  readonly call: Record<string, (...args: unknown[]) => Promise<unknown>>;
  readonly ready: Promise<void>;
  readonly #runtime: Runtime;
  readonly #scheduler: Scheduler;
  readonly #loop: HostLoop;
  readonly #safety: SafetyCheck;
  readonly #supervisor: Supervisor;
  readonly #backpressure: Backpressure;
  readonly #keepAlive: boolean;
  readonly #rejectReady: (error: Error) => void;
  #closed: Error | undefined;
  #closing: Promise<void> | undefined;
  #onDrained: (() => void) | undefined;

  constructor(
    options: ResolvedOptions,
    sources: readonly TaskSource[],
    tasks: readonly HostTask[],
    runtime: Runtime,
    active: readonly SharedWord[],
  ) {
    super();
    this.#runtime = runtime;
    this.#keepAlive = options.keepAlive;
    const codec = new Codec({
      access: runtime,
      origin: 0,
      maxPayloadBytes: options.maxPayloadBytes,
      mayLend: true,
    });
    const autoQueue = AUTO_QUEUE_PER_THREAD * options.maxThreads;
    this.#backpressure = new Backpressure({
      maxQueue: options.maxQueue,
      policy: options.queuePolicy,
      highWaterMark: Math.min(options.maxQueue, autoQueue),
      onDrain: () => void this.#emit("drain", {}),
    });
    const hostControl = new SharedArrayBuffer(HOST_CONTROL_BYTES);
    const parker = new HostParker(new Int32Array(hostControl), HOST_PARKED_WORD);
    const activeCount = new ActiveCount(active, runtime.cores);
    const serviceTimes = new SharedArrayBuffer(serviceTimesBytes(sources.length));
    const spinMs = options.spinMicroseconds / 1000;
    const holder = new Holder(codec, maxInlineBytes(options.ringBytes));
    const signatures = tasks.map(({ signature }) => signature);
    this.#scheduler = new Scheduler({
      holder,
      signatures,
      isPromise: runtime.isPromise,
      placement: createChooser(options.balancer, options.maxConcurrency, activeCount),
      backpressure: this.#backpressure,
      serviceTimes: new ServiceTimes(serviceTimes),
      events: {
        onSubmit: () => this.#loop.kick(),
        onPark: () => {
          this.#safety.hold();
          this.#supervisor.look();
        },
        onWait: () => this.#supervisor.look(),
        onIdle: () => {
          if (this.#scheduler.inFlight.size > 0) this.#safety.hold();
        },
        onEmpty: () => this.#onEmpty(),
      },
    });
    if (options.inliner !== undefined) {
      this.#scheduler.inliner = new Inliner({
        ...options.inliner,
        codec,
        holder,
        inFlight: this.#scheduler.inFlight,
        functions: tasks.map(({ f }) => f),
        signatures,
        maxConcurrency: options.maxConcurrency,
        soon: runtime.soon,
        onRoom: () => this.#loop.kick(),
      });
    }
    this.#loop = new HostLoop(runtime, parker, activeCount, this.#scheduler, spinMs);
    this.#safety = new SafetyCheck(
      runtime,
      () => this.#receivers(parker),
      () => this.#loop.onTick(),
    );
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => {}); // whoever asks for `ready` sees it; calls see it too
    this.ready = promise;
    this.#rejectReady = reject;
    const laneOptions: LaneOptions = {
      runtime,
      codec,
      workerEntry: workerEntry(),
      ringCapacity: options.ringBytes,
      hostControl,
      active,
      serviceTimes,
      spinMs,
      tasks: sources,
      maxConcurrency: options.maxConcurrency,
      maxPayloadBytes: options.maxPayloadBytes,
    };
    this.#supervisor = new Supervisor(
      options,
      laneOptions,
      this.#scheduler,
      activeCount,
      {
        onWake: () => this.#loop.onWakeMessage(),
        onReady: resolve,
        onFailed: (error) => this.#fail(error),
        onUnhandledRejection: (workerId, error) => this.#reportRejection(workerId, error),
        onWorkerLost: (error) => this.#emit("workerLost", { error }),
      },
    );
    const priorities = tasks.map(({ priority }) => priority);
    this.call = this.#createCalls(sources, priorities, options.balancer === "strictFifo");
    if (this.#keepAlive) this.#safety.hold();
    try {
      this.#supervisor.start();
    } catch (error) {
      this.#fail(error as Error);
      throw error;
    }
  }

  get needsDrain(): boolean {
    return this.#backpressure.needsDrain;
  }

  drained(): Promise<void> {
    if (!this.needsDrain) return Promise.resolve();
    return new Promise((resolve) => {
      this.addEventListener("drain", () => resolve(), { once: true });
    });
  }

  stats(): PoolStatistics {
    const { inFlight, queued, lanes, answers, moved } = this.#scheduler;
    return {
      inFlight: inFlight.size,
      queued,
      ready: lanes.length,
      workersStarted: this.#supervisor.started,
      workersLost: this.#supervisor.lost,
      inlined: this.#scheduler.inliner?.ran ?? 0,
      moved,
      parks: this.#loop.statistics.parks,
      wakeMessages: this.#loop.statistics.wakeMessages,
      safetyHits: this.#safety.statistics.hits,
      lateWakes: this.#safety.statistics.lateWakes,
      lateAnswers: answers.late,
    };
  }

  shutdown(timeoutMs: number = DRAIN_MS): Promise<void> {
    if (typeof timeoutMs !== "number" || !(timeoutMs >= 0)) {
      return Promise.reject(
        new InvalidArgumentError(`timeoutMs must be a number from 0, got ${textOf(timeoutMs)}.`),
      );
    }
    this.#closed ??= new PoolClosedError();
    return this.#closing ??= this.#close(timeoutMs);
  }

  [Symbol.dispose](): void {
    void this.shutdown(0);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  /** Own properties are the tasks; anything else that is asked for is a mistake, told at once. */
  #createCalls(
    sources: readonly TaskSource[],
    priorities: readonly number[],
    isStrictFifo: boolean,
  ): typeof this.call {
    const names = sources.map(({ name }) => name);
    const calls = Object.create(
      new Proxy(Object.create(null) as object, {
        get: (_target, key) => {
          // Promises and inspectors ask for these of any object.
          if (typeof key === "symbol" || key === "then" || key === "toJSON") return undefined;
          throw new UnknownTaskError(key, names);
        },
      }),
    ) as typeof this.call;
    const scheduler = this.#scheduler;
    for (const [task, name] of names.entries()) {
      const at = (priority: number) => (...args: unknown[]): Promise<unknown> =>
        new Promise((resolve: Resolve, reject: Reject) => {
          if (this.#closed !== undefined) reject(this.#closed);
          else scheduler.submit(task, args, resolve, reject, isStrictFifo ? 0 : priority);
        });
      const own = priorities[task]!;
      const call = Object.assign(at(own), {
        with: (options: CallOptions) => at(checkCallOptions(options).priority ?? own),
      });
      Object.defineProperty(calls, name, { value: call, enumerable: true });
    }
    return calls;
  }

  #onEmpty(): void {
    if (!this.#keepAlive) this.#safety.release();
    this.#onDrained?.();
  }

  async #close(timeoutMs: number): Promise<void> {
    this.#supervisor.drain();
    this.#loop.kick(); // calls whose submission a stack overflow has cut off are settled there
    if (this.#scheduler.inFlight.size > 0 && timeoutMs > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onDrained = resolve;
      const timer = timeoutMs <= MAX_TIMER_MS
        ? this.#runtime.setTimeout(resolve, timeoutMs)
        : undefined;
      await promise;
      timer?.clear();
    }
    const unfinished = "The pool was closed before this call was answered.";
    this.#scheduler.rejectAll(() => new PoolClosedError(unfinished));
    this.#rejectReady(new PoolClosedError());
    this.#safety.stop();
    await this.#supervisor.close();
  }

  /** The pool cannot work: what waits and what comes later is rejected with `error`. */
  #fail(error: Error): void {
    this.#closed ??= error;
    this.#rejectReady(error);
    this.#scheduler.rejectAll(() => error);
    this.#safety.stop();
    void this.#supervisor.close();
  }

  #reportRejection(workerId: number, error: Error): void {
    if (this.#emit("unhandledRejection", { workerId, error })) {
      this.#runtime.warn(`heddle: unhandled rejection in worker ${workerId}:`, error);
    }
  }

  /** False if a listener called `preventDefault()`. */
  #emit<Name extends keyof PoolEvents>(name: Name, detail: PoolEvents[Name]): boolean {
    return this.dispatchEvent(new CustomEvent(name, { detail, cancelable: true }));
  }

  /** The receivers of wake-ups, for the safety check. */
  *#receivers(parker: HostParker): Generator<readonly [unknown, Receiver]> {
    const loop = this.#loop;
    const scheduler = this.#scheduler;
    for (const lane of scheduler.lanes) yield [lane, lane];
    yield [this, {
      parkedWord: parker.isAnnounced ? 1 : 0,
      isWaitingInLoop: loop.isParked,
      hasReason: scheduler.hasResponse(),
      progress: scheduler.lanes.map((lane) => lane.endpoint.rx.headPosition).join(),
      wake: () => loop.onWakeMessage(),
      repost: () => loop.onWakeMessage(),
    }];
  }
}
