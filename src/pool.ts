/**
 * `createPool`: the composition root. Builds the host's side of a pool, hands out the typed calls and
 * owns the shutdown.
 */
import { type CallOptions, checkCallOptions } from "./call-options.ts";
import { Codec } from "./codec/codec.ts";
import { textOf } from "./codec/fault.ts";
import { describeSignature, type Signature } from "./codec/struct/signature.ts";
import { maxInlineBytes } from "./endpoint/endpoint.ts";
import { Holder } from "./endpoint/hold.ts";
import { createAbortWords } from "./endpoint/abort-words.ts";
import { abortError } from "./endpoint/reason.ts";
import { HOST_CONTROL_BYTES, HOST_PARKED_WORD } from "./endpoint/lane-layout.ts";
import { ServiceTimes, serviceTimesBytes } from "./endpoint/service-times.ts";
import type { TaskSource } from "./endpoint/worker-start.ts";
import { InvalidArgumentError, NestedPoolError, PoolClosedError } from "./errors.ts";
import { MOST_ANSWERS } from "./host/answers.ts";
import { disown } from "./host/arguments-in-waiting.ts";
import { Backpressure } from "./host/backpressure.ts";
import { createChooser } from "./host/balancers.ts";
import { addCall, createCallTable } from "./host/call-table.ts";
import { HostLoop } from "./host/host-loop.ts";
import { Inliner } from "./host/inliner.ts";
import {
  type CallSettings,
  createSettings,
  type GivenSettings,
  isPlain,
  PLAIN,
} from "./host/call-settings.ts";
import { Endings } from "./host/endings.ts";
import type { PendingCall, Reject, Resolve } from "./host/in-flight.ts";
import { Signals } from "./host/signals.ts";
import { Timekeeper } from "./host/timekeeper.ts";
import type { LaneOptions } from "./host/lane.ts";
import { type Receiver, SafetyCheck } from "./host/safety-check.ts";
import { Scheduler } from "./host/scheduler.ts";
import { Supervisor } from "./host/supervisor.ts";
import {
  AUTO_QUEUE_PER_THREAD,
  checkShutdown,
  type PoolOptions,
  type ResolvedOptions,
  resolveOptions,
  type ShutdownOptions,
} from "./options.ts";
import type { Pool, PoolEvents, PoolStatistics } from "./pool-types.ts";
import { ActiveCount, type SharedWord } from "./park/active-count.ts";
import { HostParker } from "./park/host-word.ts";
import { callerOf } from "./realm/call-site.ts";
import { workerRealm } from "./realm/worker-realm.ts";
import { currentRuntime } from "./runtimes/current.ts";
import { MAX_TIMER_MS, type Runtime } from "./runtimes/runtime.ts";
import { declaredBy, functionOf, locateTask, settingsOfTask, type TaskMap } from "./task.ts";

/** How long `shutdown()` waits for calls in flight. */
const DRAIN_MS = 5000;

/**
 * False in a heddle worker, true everywhere else: in the main thread, and in threads of other making
 * such as a test runner's. Guard with it what must not run again when workers import the module.
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
    const hasSignal = settingsOfTask(tasks[name]).hasSignal === true;
    return { name, moduleUrl: runtime.toModuleUrl(location), exportName, declares, hasSignal };
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
  readonly settings: GivenSettings;
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
  readonly #timekeeper: Timekeeper;
  readonly #endings: Endings;
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
    const holder = new Holder(codec, maxInlineBytes(options.ringBytes.requests));
    const signatures = tasks.map(({ signature }) => signature);
    this.#scheduler = new Scheduler({
      holder,
      signatures,
      isPromise: runtime.isPromise,
      placement: createChooser(options, activeCount),
      backpressure: this.#backpressure,
      serviceTimes: new ServiceTimes(serviceTimes),
      recycleAfter: options.recycleAfter,
      later: (callback, delayMs) => runtime.setTimeout(callback, delayMs).unref(),
      events: {
        onSubmit: () => this.#loop.kick(),
        onSettings: (call) => {
          const { hasSignal, signal, tickMs } = call.settings;
          if (hasSignal) this.#endings.begin(call);
          if (tickMs !== Infinity) this.#timekeeper.watch(tickMs);
          if (signal !== undefined) signals.watch(call, signal);
        },
        onRenewed: (call) => {
          if (call.settings.hasSignal) this.#endings.begin(call);
        },
        onWorn: (lane) => void this.#supervisor.recycle(lane),
        onSpent: (lane) => this.#supervisor.retire(lane),
        onPark: () => {
          // A worker may go on with what nobody waits for.
          if (this.#scheduler.inFlight.size > 0) this.#safety.hold();
          this.#supervisor.look();
        },
        onWait: () => this.#supervisor.look(),
        onIdle: () => {
          if (this.#scheduler.inFlight.size > 0) this.#safety.hold();
        },
        onEmpty: () => this.#onEmpty(),
      },
    });
    const abortWords = createAbortWords(tasks.some(({ settings }) => settings.hasSignal === true));
    const { inFlight } = this.#scheduler;
    const lanes = () => this.#scheduler.lanes;
    const endings = new Endings({
      inFlight,
      lanes,
      abortWords: new Int32Array(abortWords),
      now: runtime.now,
      onQueuedEnded: () => this.#scheduler.onEndedInQueue(),
      onRevoked: () => this.#loop.kick(),
      onAbandoned: () => this.#timekeeper.watch(),
    });
    const signals = new Signals((call, reason) => endings.abort(call, reason));
    this.#timekeeper = new Timekeeper({
      inFlight,
      endings,
      lanes,
      hardTimeoutMs: options.hardTimeoutMs,
      now: runtime.now,
      setTimeout: runtime.setTimeout,
      takeAnswers: () => void this.#scheduler.drain(MOST_ANSWERS),
      stop: (lane, error) => this.#scheduler.failLane(lane, error),
    });
    this.#endings = endings;
    if (options.inliner !== undefined) {
      this.#scheduler.inliner = new Inliner({
        ...options.inliner,
        codec,
        holder,
        inFlight: this.#scheduler.inFlight,
        functions: tasks.map(({ f, settings }) => settings.hasSignal === true ? undefined : f),
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
      ringSizes: options.ringBytes,
      hostControl,
      active,
      serviceTimes,
      spinMs,
      tasks: sources,
      maxConcurrency: options.maxConcurrency,
      maxPayloadBytes: options.maxPayloadBytes,
      abortWords,
      limits: options.workerLimits,
      maxWorkerMemory: options.maxWorkerMemory,
      startTimeoutMs: options.startTimeoutMs,
      teardownTimeoutMs: options.teardownTimeoutMs,
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
        onLost: (call, error) => this.#endings.lose(call, error),
        onUnhandledRejection: (workerId, error) => this.#reportRejection(workerId, error),
        onWorkerLost: (error) => this.#emit("workerLost", { error }),
      },
    );
    const { hardTimeoutMs } = options;
    const given = tasks.map(({ settings }) => ({ ...settings, hardTimeoutMs }));
    this.call = this.#createCalls(sources, given, options.balancer === "strictFifo");
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
    const { inFlight, queued, open, answers, moved } = this.#scheduler;
    return {
      inFlight: inFlight.size,
      queued,
      ready: open.length,
      workersStarted: this.#supervisor.started,
      workersLost: this.#supervisor.lost,
      recycled: this.#supervisor.recycled,
      inlined: this.#scheduler.inliner?.ran ?? 0,
      moved,
      parks: this.#loop.statistics.parks,
      wakeMessages: this.#loop.statistics.wakeMessages,
      safetyHits: this.#safety.statistics.hits,
      lateWakes: this.#safety.statistics.lateWakes,
      lateAnswers: answers.late,
      timedOut: this.#endings.timedOut,
      aborted: this.#endings.aborted,
    };
  }

  shutdown(options: number | ShutdownOptions = DRAIN_MS): Promise<void> {
    let timeoutMs: number;
    try {
      timeoutMs = checkShutdown(options, DRAIN_MS);
    } catch (error) {
      return Promise.reject(error);
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
    given: readonly GivenSettings[],
    isStrictFifo: boolean,
  ): typeof this.call {
    const names = sources.map(({ name }) => name);
    const calls = createCallTable(names) as typeof this.call;
    const scheduler = this.#scheduler;
    for (const [task, name] of names.entries()) {
      const at = (asked: GivenSettings) => {
        const all = createSettings(isStrictFifo ? { ...asked, priority: 0 } : asked);
        const settings = isPlain(all) ? PLAIN : all;
        if (settings.hasSignal || settings.signal !== undefined) {
          return this.#abortable(task, settings);
        }
        return (...args: unknown[]): Promise<unknown> =>
          new Promise((resolve: Resolve, reject: Reject) => {
            if (this.#closed === undefined) {
              scheduler.submit(task, args, resolve, reject, settings);
              return;
            }
            disown(args, this.#runtime.isPromise);
            reject(this.#closed);
          });
      };
      const own = given[task]!;
      const call = Object.assign(at(own), {
        with: (options: CallOptions) => at({ ...own, ...checkCallOptions(options) }),
      });
      addCall(calls, name, call);
    }
    return calls;
  }

  /** Calls that may be aborted: the promises of a task with a signal have a method for it. */
  #abortable(task: number, settings: CallSettings): (...args: unknown[]) => Promise<unknown> {
    const scheduler = this.#scheduler;
    const { signal } = settings;
    return (...args) => {
      let call: PendingCall | undefined;
      let own: Reject | undefined;
      const promise = new Promise((resolve: Resolve, reject: Reject) => {
        own = reject;
        if (this.#closed === undefined && signal?.aborted !== true) {
          call = scheduler.submit(task, args, resolve, reject, settings);
          return;
        }
        disown(args, this.#runtime.isPromise);
        reject(this.#closed ?? signal?.reason);
      });
      if (!settings.hasSignal) return promise;
      const abort = (reason: unknown = abortError()): void => {
        // Its slot may have another call by now.
        if (call !== undefined && call.reject === own) this.#endings.abort(call, reason);
      };
      return Object.assign(promise, { reject: abort });
    };
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
    this.#endings.tellAll(new PoolClosedError(unfinished));
    this.#scheduler.rejectAll(() => new PoolClosedError(unfinished));
    this.#rejectReady(new PoolClosedError());
    this.#safety.stop();
    this.#timekeeper.stop();
    await this.#supervisor.close();
  }

  /** The pool cannot work: what waits and what comes later is rejected with `error`. */
  #fail(error: Error): void {
    this.#closed ??= error;
    this.#rejectReady(error);
    this.#endings.tellAll(error);
    this.#scheduler.rejectAll(() => error);
    this.#safety.stop();
    this.#timekeeper.stop();
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
      isAnnounced: parker.isAnnounced,
      isWaitingInLoop: loop.isParked,
      // A worker that rests has passed the wake that follows its answer.
      isLeftAlone: scheduler.lanes.some(({ endpoint, isWaitingInLoop }) =>
        isWaitingInLoop && endpoint.rx.hasRecord
      ),
      hasReason: scheduler.hasResponse(),
      progress: scheduler.lanes.map((lane) => lane.endpoint.rx.headPosition).join(),
      wake: () => loop.onWakeMessage(),
      repost: () => loop.onWakeMessage(),
    }];
  }
}
