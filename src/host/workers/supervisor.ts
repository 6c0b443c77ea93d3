/**
 * Keeps a pool's workers running: starts them, replaces those that end, closes them all.
 *
 * A worker that fails to start before any worker was ready fails the pool: its task modules are broken. Later the
 * pool fails after several failed starts in a row without an open worker, or after ten workers in a row that end
 * without a response, if no other worker responds in between. Workers stopped for a time limit are exempt. Others are
 * replaced, after a delay that grows with each consecutive worker that answered nothing. `autoscaler.ts` decides how many.
 *
 * A worker that has reached `recycleAfter` or its memory limit continues until its successor is ready, then drains:
 * it takes no more calls, and closes when it has answered those it has.
 */
import { Map, Promise, Set } from "../../builtins.ts";
import { TimeoutError, WorkerLostError, WorkerStartError } from "../../errors.ts";
import type { AwakeCount } from "../../sync/awake-count.ts";
import type { Runtime, Timer } from "../../runtimes/runtime.ts";
import { AbandonedThreads } from "./abandoned-threads.ts";
import { DrainingLanes } from "./draining-lanes.ts";
import { PoolSizing } from "../scaling/pool-sizing.ts";
import { UnavailableThreads } from "./unavailable-threads.ts";
import { WorkerFailures } from "./worker-failures.ts";
import type { Lane } from "../lanes/lane.ts";
import type { ExitOf, SupervisorEvents, WorkerExit } from "./supervisor-events.ts";
import type { PoolSize } from "../scaling/pool-size.ts";
import { type LaneEnd, type LaneEvents, type LaneOptions, ThreadLane } from "./thread-lane.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";

/** Delay after a failed attempt to recycle a worker. */
const RECYCLE_PAUSE_MS = 5000;

export type { PoolSize, SupervisorEvents, WorkerExit };

export class Supervisor {
  /** Workers started over the life of the pool. */
  started = 0;
  lost = 0;
  readonly #lanes = new Map<number, ThreadLane>();
  readonly #runtime: Runtime;
  readonly #dispatcher: Dispatcher;
  #options: LaneOptions;
  readonly #events: SupervisorEvents;
  readonly #active: AwakeCount;
  readonly #timers = new Set<Timer>();
  readonly #laneEvents: LaneEvents;
  /** Changes when no further thread can start. */
  readonly #size: { minThreads: number; maxThreads: number };
  readonly sizing: PoolSizing;
  readonly unavailable: UnavailableThreads;
  #firstThreads = 0;
  /** Workers that are closing because they were idle or drained. */
  readonly #retired = new Set<Lane>();
  /** Starting successor -> worker it will replace. */
  readonly #successors = new Map<Lane, Lane>();
  /** Number of workers recycled so far. */
  recycled = 0;
  /** Recycled workers that still have calls to answer. */
  readonly #draining: DrainingLanes;
  readonly #abandoned: AbandonedThreads;
  /** Workers that must be stopped but cannot, as there are too many abandoned threads. */
  readonly #unstoppable = new Set<Lane>();
  #recycleFromMs = 0;
  readonly #failures = new WorkerFailures();
  #nextId = 0;
  /** Worker that was replaced -> the id of its replacement. */
  readonly #replacements = new Map<Lane, number>();
  #wereAllReady = false;
  #isDraining = false;
  #isClosing = false;

  constructor(
    size: PoolSize,
    options: LaneOptions,
    dispatcher: Dispatcher,
    active: AwakeCount,
    events: SupervisorEvents,
  ) {
    const sizes = this.#size = { ...size };
    this.#runtime = options.runtime;
    this.#dispatcher = dispatcher;
    this.#options = options;
    this.#active = active;
    this.#events = events;
    this.#abandoned = new AbandonedThreads({
      cores: options.runtime.cores,
      max: size.maxAbandonedThreads,
      canStop: options.runtime.stopsThreads,
    });
    this.#draining = new DrainingLanes(options.runtime, (lane) => this.retire(lane));
    this.sizing = new PoolSizing({
      size: sizes,
      runtime: options.runtime,
      dispatcher,
      alive: () => this.#alive,
      starting: () => this.#starting,
      delayed: () => this.#timers.size,
      start: () => this.#startOrReplaceLater(),
      retire: (lane) => this.retire(lane),
      drain: (lane) => this.#drain(lane),
    });
    this.unavailable = new UnavailableThreads({
      ...events,
      spawnOnHost: options.spawnOnHost,
      alive: () => this.#alive,
      open: () => dispatcher.lanes.open.length,
      limit: (workers) => {
        sizes.minThreads = Math.min(sizes.minThreads, workers);
        sizes.maxThreads = this.#firstThreads = workers;
      },
      onLoaded: (spawn) => {
        this.#options = { ...options, spawn };
        if (!this.#isClosing) this.#startOrReplaceLater();
      },
    });
    this.#laneEvents = {
      onTasks: (tasks) => events.onTasks(tasks),
      onReady: (lane) => this.#onReady(lane),
      onWake: events.onWake,
      onWoken: events.onWoken && (({ id }) => events.onWoken!(id)),
      onUnhandledRejection: (lane, error) => events.onUnhandledRejection(lane.id, error),
      onMessage: (lane, message) => events.onMessage(lane.id, message),
      onTaskMessage: (lane, message) => events.onTaskMessage(lane, message),
      onFull: (lane, isFarOver) => this.#onFull(lane, isFarOver),
      onEnd: (lane, end) => this.#onEnd(lane, end),
    };
  }

  /** Ids of the workers that take calls or are starting, in order. */
  get workerIds(): number[] {
    const { lanes } = this.#dispatcher;
    return [...this.#lanes.values()]
      .filter((lane) => lane.state === "starting" || lanes.takesCalls(lane))
      .map(({ id }) => id);
  }

  isStarting(workerId: number): boolean {
    return this.#lanes.get(workerId)?.state === "starting";
  }

  /** Workers that have not ended. */
  get threads(): Iterable<ThreadLane> {
    return this.#lanes.values();
  }

  /** Starts the workers. Throws what starting a thread throws; those started before are closed. */
  start(): void {
    try {
      while (
        this.#firstThreads < this.#size.minThreads &&
        this.sizing.budget.mayStart(this.#firstThreads)
      ) {
        this.#spawn();
        this.#firstThreads++;
      }
    } catch (error) {
      if (this.unavailable.goOn(error as Error, true)) return;
      void this.close();
      throw error;
    }
    if (this.#firstThreads === 0) this.#becomeReady();
  }

  /** Number of threads of stopped workers that go on. */
  get abandonedThreads(): number {
    return this.#abandoned.size;
  }

  /** Factor, at least 1, by which hard limits are longer at present. */
  get stretch(): number {
    return this.#abandoned.stretch(this.#dispatcher.lanes.busyCount);
  }

  /** Stops a worker that exceeded a limit. If too many threads are abandoned, the worker stays but gets no calls. */
  stop(lane: Lane, error: Error): void {
    if (!this.#abandoned.mayStop(lane)) {
      this.#keepUnstoppable(lane, error);
      return;
    }
    const continues = this.#abandoned.add(lane);
    this.#dispatcher.stopLane(lane, error);
    if (continues) this.#events.onThreadAbandoned(lane.id);
  }

  /** Its waiting calls run elsewhere. It closes when it has answered. Without another worker the pool fails. */
  #keepUnstoppable(lane: Lane, cause: Error): void {
    if (this.#unstoppable.has(lane) || this.#isClosing) return;
    this.#unstoppable.add(lane);
    this.#dispatcher.retire(lane);
    if (this.#alive + this.#timers.size > this.#unstoppable.size || this.mayStart) return;
    const message =
      `No worker is left: ${this.#unstoppable.size} run tasks that cannot be stopped, beside ` +
      `${this.#abandoned.size} abandoned threads (maxAbandonedThreads)`;
    this.#events.onFailed(new WorkerStartError(`${message}.`, { cause }));
  }

  /** Whether one more worker may be started. If the others are blocked, the budget does not matter. */
  get mayStart(): boolean {
    return this.#alive < this.#size.maxThreads;
  }

  /** Starts a worker if calls wait for one. */
  checkLoad(): void {
    this.sizing.check();
  }

  /** For a host that blocks: notices workers that have started or ended. False: none has. `isTick`: looks by all means. */
  checkWorkers(isTick: boolean): boolean {
    return [...this.#lanes.values()].filter((lane) => lane.checkLife(isTick)).length > 0;
  }

  /** No further calls will be made: a worker that ends is replaced only if calls wait for one. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Closes all workers. Settles when all are gone. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.sizing.close();
    for (const timer of this.#timers) timer.clear();
    this.#timers.clear();
    this.#draining.close();
    await Promise.all([...this.#lanes.values()].map((lane) => lane.close()));
  }

  /** Workers that take calls or are starting, and stuck ones. Only draining workers beyond `maxThreads` count. */
  get #alive(): number {
    const { lanes } = this.#dispatcher;
    let alive = this.#unstoppable.size + Math.max(0, this.#draining.size - this.#size.maxThreads);
    for (const lane of this.#lanes.values()) {
      if (lane.state === "starting" || lanes.takesCalls(lane)) alive++;
    }
    return alive;
  }

  get #starting(): number {
    const { lanes } = this.#dispatcher;
    let starting = 0;
    for (const lane of this.#lanes.values()) {
      if (lane.state === "starting" || lanes.isPreparing(lane)) starting++;
    }
    return starting;
  }

  #spawn(id: number = this.#nextId++): Lane {
    const lane = new ThreadLane(id, this.#options, this.#laneEvents);
    this.started++;
    this.#lanes.set(lane.id, lane);
    this.sizing.onStarted(lane);
    return lane;
  }

  /** A worker uses too much memory. If far too much, it gets no calls while its successor starts. */
  #onFull(lane: Lane, isFarOver: boolean): void {
    if (lane.endpoint.tx.sequence === 0) return; // it has run no call
    const { lanes } = this.#dispatcher;
    this.recycle(lane);
    if (!isFarOver || this.#isClosing || !lanes.open.includes(lane)) return;
    this.#letDrain(lane);
    this.#dispatcher.retire(lane);
    if (![...this.#successors.values()].includes(lane)) {
      this.#noteReplacement(lane, this.#replaceLater());
    }
  }

  /**
   * A worker has reached its limit of calls or memory: it continues until its successor is ready. False: refused
   * now; retried after later responses or the next memory report.
   */
  recycle(replaced: Lane): boolean {
    if (this.#isClosing || this.#isDraining || !this.#dispatcher.lanes.open.includes(replaced)) {
      return false;
    }
    if ([...this.#successors.values()].includes(replaced)) return false;
    if (this.#runtime.now() < this.#recycleFromMs) return false;
    // Draining workers may take long, and each is a thread.
    if (this.#draining.size + this.#successors.size >= this.#size.maxThreads) return false;
    try {
      this.#successors.set(this.#spawn(), replaced);
      return true;
    } catch {
      return false;
    }
  }

  /** A worker has got its last call: another replaces it, and it closes when it has answered. */
  replaceAtLimit(lane: Lane): void {
    if (this.#isClosing || this.#draining.has(lane) || this.#retired.has(lane)) return;
    this.#letDrain(lane);
    this.#noteReplacement(lane, this.#replaceLater());
  }

  #noteReplacement(lane: Lane, id: number | undefined): void {
    if (id !== undefined) this.#replacements.set(lane, id);
  }

  #letDrain(lane: Lane): void {
    if (this.#draining.has(lane) || this.#retired.has(lane)) return;
    this.recycled++;
    this.#draining.add(lane);
  }

  /** Closes a worker when it has answered its calls. */
  #drain(lane: Lane): void {
    this.#draining.add(lane);
    this.#dispatcher.retire(lane);
  }

  #onReady(lane: Lane): void {
    this.#failures.onReady();
    this.sizing.onReady(lane);
    this.#dispatcher.addLane(lane);
    this.#events.onPrepare(lane, () => this.#open(lane));
  }

  /** A worker that is prepared takes calls. */
  #open(lane: Lane): void {
    if (!this.#dispatcher.openLane(lane)) return;
    const replaced = this.#successors.get(lane);
    if (replaced !== undefined) {
      this.#successors.delete(lane);
      this.#replacements.set(replaced, lane.id);
      this.#letDrain(replaced);
      this.#dispatcher.retire(replaced); // does nothing if it was retired for far too much memory
    }
    this.sizing.onOpened();
    if (this.#dispatcher.lanes.open.length >= this.#firstThreads) this.#becomeReady();
    this.#events.onWorkerStart(lane.id); // last: a listener may do anything
  }

  #becomeReady(): void {
    if (this.#wereAllReady) return;
    this.#wereAllReady = true;
    this.#events.onReady();
  }

  /** Closes an idle worker. */
  retire(lane: Lane): void {
    this.#dispatcher.removeLane(lane);
    const wasDraining = this.#draining.delete(lane);
    const isReturned = this.sizing.budget.takeReturned(lane);
    const reason = isReturned
      ? "another pool gets its thread"
      : wasDraining
      ? "it was recycled"
      : "it was idle";
    this.#unstoppable.delete(lane);
    this.#retired.add(lane);
    void this.#lanes.get(lane.id)!.close(reason);
  }

  #onEnd(lane: ThreadLane, end: LaneEnd): void {
    this.#lanes.delete(lane.id);
    this.#draining.delete(lane);
    this.#unstoppable.delete(lane);
    this.#active.subtract(lane.activeShare);
    const calls = this.#dispatcher.endLane(lane);
    this.sizing.onEnded(lane);
    const exit = { ...end, callsLost: 0, replacedBy: this.#replacements.get(lane) };
    this.#replacements.delete(lane);
    if (this.#isClosing) {
      this.#events.onWorkerExit({ ...exit, callsLost: calls.length }, undefined);
      return;
    }
    const replaced = this.#successors.get(lane);
    this.#successors.delete(lane);
    exit.replacedBy ??= this.#forgetReplaced(lane);
    if (this.#retired.delete(lane)) {
      this.sizing.check(); // a call may have been made meanwhile
      this.#events.onWorkerExit(exit, undefined);
      return;
    }
    const error = (): WorkerLostError =>
      new WorkerLostError(end, { cause: end.cause ?? end.startError });
    this.#events.onEnded(lane.id, error);
    for (const call of calls) {
      if (this.#dispatcher.waiting.retry(call)) continue;
      exit.callsLost++;
      this.#events.onLost(call, error());
    }
    this.lost++;
    const continues = this.#replaceLost(lane, end, replaced, exit);
    // Last: a listener may do anything, even close the pool.
    this.#events.onWorkerExit(exit, continues ? error() : undefined);
  }

  /** Starts another worker. False: the pool has failed. */
  #replaceLost(lane: ThreadLane, end: LaneEnd, replaced: Lane | undefined, exit: ExitOf): boolean {
    if (replaced !== undefined && end.startError !== undefined) {
      // The worker that it was to replace continues.
      this.#recycleFromMs = this.#runtime.now() + RECYCLE_PAUSE_MS;
    } else if (end.neverBegan && this.unavailable.goOn(end.startError!, false)) return false;
    else if (!this.#canContinue(lane, end, { cause: end.cause ?? end.startError })) return false;
    exit.replacedBy ??= this.#replaceLater();
    this.sizing.check();
    return true;
  }

  /** This worker ended; its starting successor becomes an ordinary addition. Returns the successor's id. */
  #forgetReplaced(replaced: Lane): number | undefined {
    const [successor] = [...this.#successors].find(([, lane]) => lane === replaced) ?? [];
    if (successor !== undefined) this.#successors.delete(successor);
    return successor?.id;
  }

  /** Whether to start further workers after this end. False: the pool has failed. */
  #canContinue(lane: ThreadLane, end: LaneEnd, options: ErrorOptions): boolean {
    const { lanes, responses } = this.#dispatcher;
    if (end.startError !== undefined && this.#failures.countFailedStart(lanes.open.length)) {
      this.#events.onFailed(this.#failures.startError(end.startError));
      return false;
    }
    const isUnproductive = !lane.hasResponded && !(end.cause instanceof TimeoutError);
    const error = this.#failures.countEnd(isUnproductive, responses.taken, end.reason, options);
    if (error !== undefined) this.#events.onFailed(error);
    return error === undefined;
  }

  /** Starts a replacement soon, unless there are enough workers. Returns its id, which is then reserved; `reserved` is one that was. */
  #replaceLater(reserved?: number): number | undefined {
    const { queued } = this.#dispatcher.waiting;
    if (this.#isDraining && queued === 0) return undefined;
    const alive = this.#alive + this.#timers.size;
    if (alive >= this.#size.maxThreads || (alive >= this.#size.minThreads && queued === 0)) {
      return undefined;
    }
    if (!this.sizing.budget.mayStart(alive)) return undefined;
    const id = reserved ?? this.#nextId++;
    const timer = this.#runtime.setTimeout(() => {
      this.#timers.delete(timer);
      if (this.#isClosing || !this.sizing.budget.mayStart(this.#alive)) return;
      this.#startOrReplaceLater(id);
    }, this.#failures.delayMs);
    // Calls in flight and starting workers keep the process running. An idle pool must not.
    if (this.#wereAllReady) timer.unref();
    this.#timers.add(timer);
    return id;
  }

  #startOrReplaceLater(id?: number): void {
    if (this.unavailable.isLoading) return; // one starts then
    try {
      this.#spawn(id);
    } catch (error) {
      if (this.unavailable.goOn(error as Error, false)) return;
      if (this.#failures.countFailedStart(this.#dispatcher.lanes.open.length)) {
        this.#events.onFailed(this.#failures.startError(error as Error));
      } else this.#replaceLater(id);
    }
  }
}
