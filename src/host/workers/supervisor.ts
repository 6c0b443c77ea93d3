/**
 * Keeps a pool's workers running: starts them, replaces those that end, closes them all.
 *
 * A worker that fails to start before any worker was ready fails the pool: its task modules are broken. Later the
 * pool fails after several failed starts in a row without an open worker, or after ten workers in a row that end
 * without a response, if no other worker responds in between. Workers stopped for a time limit are exempt. Others are
 * replaced, after a delay that grows with each consecutive worker that answered nothing. `autoscaler.ts` decides how many.
 * `recycling.ts` replaces workers that have reached a limit.
 */
import { Map, Promise, Set } from "../../builtins.ts";
import { TimeoutError, WorkerLostError, WorkerStartError } from "../../errors.ts";
import type { AwakeCount } from "../../sync/awake-count.ts";
import type { Runtime, Timer } from "../../runtimes/runtime.ts";
import { AbandonedThreads } from "./abandoned-threads.ts";
import { Recycling } from "./recycling.ts";
import { PoolSizing } from "../scaling/pool-sizing.ts";
import { type FixedPool, fixedPools } from "../scaling/thread-budget.ts";
import { UnavailableThreads } from "./unavailable-threads.ts";
import { WorkerFailures } from "./worker-failures.ts";
import type { Lane } from "../lanes/lane.ts";
import type { ExitOf, SupervisorEvents, WorkerExit } from "./supervisor-events.ts";
import type { PoolSize } from "../scaling/pool-size.ts";
import type { LaneOwner } from "./lane-options.ts";
import { type LaneEnd, type LaneOptions, ThreadLane } from "./thread-lane.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";

export type { PoolSize, SupervisorEvents, WorkerExit };

export class Supervisor implements LaneOwner<ThreadLane>, FixedPool {
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
  /** Changes when no further thread can start. */
  readonly #size: PoolSize & { minThreads: number; maxThreads: number };
  /** Undefined in a pool of fixed size that has not had fewer workers. */
  sizing: PoolSizing | undefined;
  /** Undefined: every thread could start. */
  #unavailable: UnavailableThreads | undefined;
  #firstThreads = 0;
  /** Workers that are closing because they were idle or drained. */
  readonly #retired = new Set<Lane>();
  /** Undefined: no worker has drained. */
  #recycling: Recycling | undefined;
  /** Undefined: no worker was stopped. */
  #abandoned: AbandonedThreads | undefined;
  /** Workers that must be stopped but cannot, as there are too many abandoned threads. */
  readonly #unstoppable = new Set<Lane>();
  #wasAnyReady = false;
  /** Undefined: no worker was lost. */
  #failures: WorkerFailures | undefined;
  #nextId = 0;
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
    this.#size = { ...size };
    this.#runtime = options.runtime;
    this.#dispatcher = dispatcher;
    this.#options = options;
    this.#active = active;
    this.#events = events;
    const { budget, share, minThreads, maxThreads } = size;
    const isFixed = budget === undefined && (share?.guaranteed ?? minThreads) === maxThreads;
    if (isFixed) fixedPools.add(this);
    else this.sizing = this.#createSizing(size);
  }

  /** `shared`: with a part in a budget. */
  #createSizing(shared?: PoolSize): PoolSizing {
    return new PoolSizing({
      size: this.#size,
      shared,
      runtime: this.#runtime,
      dispatcher: this.#dispatcher,
      alive: () => this.#alive,
      starting: () => this.#starting,
      delayed: () => this.#timers.size,
      start: () => this.#startOrReplaceLater(),
      retire: (lane) => this.retire(lane),
      drain: (lane) => this.#recycle().drain(lane),
    });
  }

  /** A thread cannot start. True: the pool goes on without it (`UnavailableThreads`). */
  #goOnWithout(error: Error, isFirst: boolean): boolean {
    const { spawnOnHost } = this.#options;
    if (spawnOnHost === undefined) return false;
    this.#unavailable ??= new UnavailableThreads({
      spawnOnHost,
      onUnavailable: (error, threads) => {
        const workers = this.#size.maxThreads = this.#firstThreads = Math.max(1, threads);
        this.#size.minThreads = Math.min(this.#size.minThreads, workers);
        this.#events.onUnavailable(error, threads);
      },
      onFailed: (error) => this.#events.onFailed(error),
      alive: () => this.#alive,
      open: () => this.#dispatcher.lanes.open.length,
      onLoaded: (spawn) => {
        this.#options = { ...this.#options, spawn };
        if (!this.#isClosing) this.#startOrReplaceLater();
      },
    });
    return this.#unavailable.goOn(error, isFirst);
  }

  /** Whether the tasks run on the host. */
  get isOnHost(): boolean {
    return this.#unavailable?.isOnHost === true;
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

  get threadCount(): number {
    return this.#lanes.size;
  }

  get guaranteed(): number {
    return this.#isClosing ? 0 : this.#size.minThreads;
  }

  /** Starts the workers. Throws what starting a thread throws; those started before are closed. */
  start(): void {
    try {
      while (
        this.#firstThreads < this.#size.minThreads &&
        this.sizing?.budget?.mayStart(this.#firstThreads) !== false
      ) {
        this.#spawn();
        this.#firstThreads++;
      }
    } catch (error) {
      if (this.#goOnWithout(error as Error, true)) return;
      void this.close();
      throw error;
    }
    if (this.#firstThreads === 0) this.#becomeReady();
  }

  /** Number of threads of stopped workers that go on. */
  get abandonedThreads(): number {
    return this.#abandoned?.size ?? 0;
  }

  /** Factor, at least 1, by which hard limits are longer at present. */
  get stretch(): number {
    return this.#abandoned?.stretch(this.#dispatcher.lanes.busyCount) ?? 1;
  }

  /** Stops a worker that exceeded a limit. If too many threads are abandoned, the worker stays but gets no calls. */
  stop(lane: Lane, error: Error): void {
    const abandoned = this.#abandoned ??= new AbandonedThreads({
      cores: this.#runtime.cores,
      max: this.#size.maxAbandonedThreads,
      canStop: this.#runtime.stopsThreads,
    });
    if (!abandoned.mayStop(lane)) {
      this.#keepUnstoppable(lane, error);
      return;
    }
    const continues = abandoned.add(lane);
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
      `${this.abandonedThreads} abandoned threads (maxAbandonedThreads)`;
    this.#events.onFailed(new WorkerStartError(`${message}.`, { cause }));
  }

  /** Whether one more worker may be started. If the others are blocked, the budget does not matter. */
  get mayStart(): boolean {
    return this.#alive < this.#size.maxThreads;
  }

  /** Starts a worker if calls wait for one. */
  checkLoad(): void {
    if (this.sizing === undefined) {
      const isFull = this.#alive + this.#timers.size >= this.#size.maxThreads;
      if (isFull || this.#isClosing) return;
      this.sizing = this.#createSizing();
    }
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
    this.sizing?.close();
    for (const timer of this.#timers) timer.clear();
    this.#timers.clear();
    this.#recycling?.draining.close();
    if (this.#lanes.size === 0) fixedPools.delete(this);
    const ends: Promise<void>[] = [];
    for (const lane of this.#lanes.values()) ends.push(lane.close());
    await Promise.all(ends);
  }

  /** Workers that take calls or are starting, and stuck ones. Only draining workers beyond `maxThreads` count. */
  get #alive(): number {
    const { lanes } = this.#dispatcher;
    const draining = this.#recycling?.draining.size ?? 0;
    let alive = this.#unstoppable.size + Math.max(0, draining - this.#size.maxThreads);
    for (const lane of this.#lanes.values()) {
      if (lane.state === "starting" || lanes.takesCalls(lane)) alive++;
    }
    return alive;
  }

  get #starting(): number {
    const { lanes } = this.#dispatcher;
    return [...this.#lanes.values()]
      .filter((lane) => lane.state === "starting" || lanes.isPreparing(lane)).length;
  }

  #spawn(id: number = this.#nextId++): Lane {
    const lane = new ThreadLane(id, this.#options, this.#events, this);
    this.started++;
    this.#lanes.set(lane.id, lane);
    this.sizing?.onStarted(lane);
    return lane;
  }

  /** A worker uses too much memory. If far too much, it gets no calls while its successor starts. */
  onFull(lane: Lane, isFarOver: boolean): void {
    if (lane.endpoint.tx.sequence === 0) return; // it has run no call
    this.recycle(lane);
    if (!isFarOver || this.#isClosing || !this.#dispatcher.lanes.open.includes(lane)) return;
    this.#recycle().stopCalls(lane);
  }

  /**
   * A worker has reached its limit of calls or memory: it continues until its successor is ready. False: refused
   * now; retried after later responses or the next memory report.
   */
  recycle(replaced: Lane): boolean {
    return !this.#isClosing && !this.#isDraining && this.#recycle().begin(replaced);
  }

  /** A worker has got its last call: another replaces it, and it closes when it has answered. */
  replaceAtLimit(lane: Lane): void {
    if (!this.#isClosing) this.#recycle().replaceAtLimit(lane);
  }

  /** Number of workers recycled so far. */
  get recycled(): number {
    return this.#recycling?.recycled ?? 0;
  }

  #recycle(): Recycling {
    return this.#recycling ??= new Recycling({
      runtime: this.#runtime,
      dispatcher: this.#dispatcher,
      size: this.#size,
      spawn: () => this.#spawn(),
      replaceLater: () => this.#replaceLater(),
      isRetired: (lane) => this.#retired.has(lane),
      retire: (lane) => this.retire(lane),
    });
  }

  onReady(lane: Lane): void {
    this.#wasAnyReady = true;
    this.#failures?.onReady();
    this.sizing?.onReady(lane);
    this.#dispatcher.addLane(lane);
    this.#events.onPrepare(lane, () => this.#open(lane));
  }

  /** A worker that is prepared takes calls. */
  #open(lane: Lane): void {
    if (!this.#dispatcher.openLane(lane)) return;
    this.#recycling?.onOpened(lane);
    this.sizing?.onOpened();
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
    const wasDraining = this.#recycling?.draining.delete(lane) === true;
    const isReturned = this.sizing?.budget?.takeReturned(lane) === true;
    const reason = isReturned
      ? "another pool gets its thread"
      : wasDraining
      ? "it was recycled"
      : "it was idle";
    this.#unstoppable.delete(lane);
    this.#retired.add(lane);
    void this.#lanes.get(lane.id)!.close(reason);
  }

  onEnd(lane: ThreadLane, end: LaneEnd): void {
    this.#lanes.delete(lane.id);
    this.#unstoppable.delete(lane);
    this.#active.subtract(lane.activeShare);
    const exit = { ...end, callsLost: 0, replacedBy: this.#recycling?.onEnded(lane) };
    const calls = this.#dispatcher.endLane(lane);
    this.sizing?.onEnded(lane);
    if (this.#isClosing) {
      if (this.#lanes.size === 0) fixedPools.delete(this);
      this.#events.onWorkerExit({ ...exit, callsLost: calls.length }, undefined);
      return;
    }
    const replaced = this.#recycling?.takeReplacedBy(lane);
    exit.replacedBy ??= this.#recycling?.forgetReplaced(lane);
    if (this.#retired.delete(lane)) {
      this.checkLoad(); // a call may have been made meanwhile
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
      this.#recycle().pause();
    } else if (end.neverBegan && this.#goOnWithout(end.startError!, false)) return false;
    else if (!this.#canContinue(lane, end, { cause: end.cause ?? end.startError })) return false;
    exit.replacedBy ??= this.#replaceLater();
    this.checkLoad();
    return true;
  }

  /** Whether to start further workers after this end. False: the pool has failed. */
  #canContinue(lane: ThreadLane, end: LaneEnd, options: ErrorOptions): boolean {
    const { responses } = this.#dispatcher;
    if (end.startError !== undefined && this.#hasFailed(end.startError)) return false;
    const isUnproductive = !lane.hasResponded && !(end.cause instanceof TimeoutError);
    const error = this.#getFailures().countEnd(
      isUnproductive,
      responses.taken,
      end.reason,
      options,
    );
    if (error !== undefined) this.#events.onFailed(error);
    return error === undefined;
  }

  /** Counts a failed start. True: the pool has failed with it. */
  #hasFailed(error: Error): boolean {
    const failures = this.#getFailures();
    const hasFailed = failures.countFailedStart(this.#dispatcher.lanes.open.length);
    if (hasFailed) this.#events.onFailed(failures.startError(error));
    return hasFailed;
  }

  #getFailures(): WorkerFailures {
    return this.#failures ??= new WorkerFailures(this.#wasAnyReady);
  }

  /** Starts a replacement soon, unless there are enough workers. Returns its id, which is then reserved; `reserved` is one that was. */
  #replaceLater(reserved?: number): number | undefined {
    const { queued } = this.#dispatcher.waiting;
    if (this.#isDraining && queued === 0) return undefined;
    const alive = this.#alive + this.#timers.size;
    if (alive >= this.#size.maxThreads || (alive >= this.#size.minThreads && queued === 0)) {
      return undefined;
    }
    if (this.sizing?.budget?.mayStart(alive) === false) return undefined;
    const id = reserved ?? this.#nextId++;
    const timer = this.#runtime.setTimeout(() => {
      this.#timers.delete(timer);
      if (this.#isClosing || this.sizing?.budget?.mayStart(this.#alive) === false) return;
      this.#startOrReplaceLater(id);
    }, this.#getFailures().delayMs);
    // Calls in flight and starting workers keep the process running. An idle pool must not.
    if (this.#wereAllReady) timer.unref();
    this.#timers.add(timer);
    return id;
  }

  #startOrReplaceLater(id?: number): void {
    if (this.#unavailable?.isLoading) return; // one starts then
    try {
      this.#spawn(id);
    } catch (error) {
      if (this.#goOnWithout(error as Error, false)) return;
      if (!this.#hasFailed(error as Error)) this.#replaceLater(id);
    }
  }
}
