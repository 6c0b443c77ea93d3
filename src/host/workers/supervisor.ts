/**
 * Keeps a pool's workers running: starts them, replaces those that end, closes them all.
 *
 * A worker that fails to start before any worker was ready fails the pool: its task modules are broken. Later the
 * pool fails after several failed starts in a row without an open worker, or after ten workers in a row that end
 * without a response, if no other worker responds in between. Workers stopped for a time limit are exempt. Others are
 * replaced, after a delay that grows with each consecutive worker that answered nothing.
 *
 * Features decide how many workers a pool has, replace those that have reached a limit, and stop them (`feature.ts`).
 */
import { Map, Promise, Set } from "../../builtins.ts";
import { TimeoutError, WorkerLostError } from "../../errors.ts";
import type { AwakeCount } from "../../sync/awake-count.ts";
import type { Runtime, Timer, WorkerHandle } from "../../runtimes/runtime.ts";
import {
  type Fallback,
  makers,
  type Recycling,
  type Sizing,
  type Stopping,
  type Workers,
} from "./feature.ts";
import { WorkerFailures } from "./worker-failures.ts";
import { type FixedPool, fixedPools } from "../lanes/fixed-pools.ts";
import type { Lane } from "../lanes/lane.ts";
import type { LaneSet } from "../lanes/lane-set.ts";
import { isAlive } from "../lanes/phase.ts";
import type { ExitOf, SupervisorEvents, WorkerExit } from "./supervisor-events.ts";
import type { PoolSize } from "./pool-size.ts";
import type { LaneOwner } from "./lane-options.ts";
import { type LaneEnd, type LaneOptions, ThreadLane } from "./thread-lane.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";

export type { PoolSize, SupervisorEvents, WorkerExit };

export class Supervisor implements LaneOwner<ThreadLane>, FixedPool, Workers {
  /** Workers started over the life of the pool. */
  started = 0;
  lost = 0;
  isDraining = false;
  isClosing = false;
  readonly runtime: Runtime;
  readonly dispatcher: Dispatcher;
  readonly events: SupervisorEvents;
  readonly lanes: LaneSet;
  /** Changes when no further thread can start. */
  readonly size: PoolSize & { minThreads: number; maxThreads: number };
  /** Undefined in a pool of fixed size. */
  readonly sizing: Sizing | undefined;
  readonly #lanes = new Map<number, ThreadLane>();
  #options: LaneOptions;
  readonly #active: AwakeCount;
  readonly #timers = new Set<Timer>();
  /** Undefined: every thread could start. */
  #fallback: Fallback | undefined;
  #firstThreads = 0;
  /** Undefined: no worker has reached a limit. */
  #recycling: Recycling | undefined;
  /** Undefined: no worker was stopped. */
  #stopping: Stopping | undefined;
  #wasAnyReady = false;
  /** Undefined: no worker was lost. */
  #failures: WorkerFailures | undefined;
  #nextId = 0;
  #wereAllReady = false;

  constructor(
    size: PoolSize,
    options: LaneOptions,
    dispatcher: Dispatcher,
    active: AwakeCount,
    events: SupervisorEvents,
  ) {
    this.size = { ...size };
    this.runtime = options.runtime;
    this.dispatcher = dispatcher;
    this.lanes = dispatcher.lanes;
    this.events = events;
    this.#options = options;
    this.#active = active;
    const { budget, share, minThreads, maxThreads } = size;
    const isFixed = budget === undefined && (share?.guaranteed ?? minThreads) === maxThreads;
    if (isFixed || makers.sizing === undefined) fixedPools.add(this);
    else this.sizing = makers.sizing(this);
  }

  get spawnOnHost(): LaneOptions["spawnOnHost"] {
    return this.#options.spawnOnHost;
  }

  /** A thread cannot start. True: the pool goes on without it. */
  #goOnWithout(error: Error, isFirst: boolean): boolean {
    if (this.spawnOnHost === undefined) return false;
    this.#fallback ??= makers.fallback?.(this);
    return this.#fallback?.goOn(error, isFirst) === true;
  }

  limit(threads: number): void {
    this.size.maxThreads = this.#firstThreads = threads;
    this.size.minThreads = Math.min(this.size.minThreads, threads);
  }

  spawnBy(spawn: () => WorkerHandle): void {
    this.#options = { ...this.#options, spawn };
    if (!this.isClosing) this.startOrReplaceLater();
  }

  /** Whether the tasks run on the host. */
  get isOnHost(): boolean {
    return this.#fallback?.isOnHost === true;
  }

  /** Ids of the workers that take calls or are starting, in order. */
  get workerIds(): number[] {
    return [...this.#lanes.values()].filter(isAlive).map(({ id }) => id);
  }

  isStarting(workerId: number): boolean {
    return this.#lanes.get(workerId)?.phase === "starting";
  }

  /** Workers that have not ended. */
  get threads(): Iterable<ThreadLane> {
    return this.#lanes.values();
  }

  get threadCount(): number {
    return this.#lanes.size;
  }

  get guaranteed(): number {
    return this.isClosing ? 0 : this.size.minThreads;
  }

  /** Starts the workers. Throws what starting a thread throws; those started before are closed. */
  start(): void {
    try {
      while (
        this.#firstThreads < this.size.minThreads &&
        this.sizing?.mayStart(this.#firstThreads) !== false
      ) {
        this.spawn();
        this.#firstThreads++;
      }
    } catch (error) {
      if (this.#goOnWithout(error as Error, true)) return;
      void this.close();
      throw error;
    }
    if (this.#firstThreads === 0) this.#becomeReady();
  }

  /** Undefined without the feature. */
  get recycling(): Recycling | undefined {
    return this.#recycling ??= makers.recycling?.(this);
  }

  /** Number of workers recycled so far. */
  get recycled(): number {
    return this.#recycling?.recycled ?? 0;
  }

  /** Undefined without the feature. */
  get stopping(): Stopping | undefined {
    return this.#stopping ??= makers.stopping?.(this);
  }

  /** Number of threads of stopped workers that go on. */
  get abandonedThreads(): number {
    return this.#stopping?.abandonedThreads ?? 0;
  }

  /** If the others are blocked, a budget does not matter. */
  get mayStart(): boolean {
    return this.alive < this.size.maxThreads;
  }

  get delayed(): number {
    return this.#timers.size;
  }

  /** Starts a worker if calls wait for one, on the host or behind others. */
  checkLoad(): void {
    if (this.sizing !== undefined) return this.sizing.check();
    // A pool of fixed size lacks workers that are being stopped, and those that were not replaced as no call waited.
    const { maxThreads } = this.size;
    if (this.#lanes.size >= maxThreads && !this.#recycling && !this.#stopping) return;
    if (this.isClosing || this.#timers.size > 0 || this.alive >= maxThreads) return;
    const { count, following } = this.dispatcher.startable;
    if (count + following > this.starting) this.startOrReplaceLater();
  }

  /** For a host that blocks: notices workers that have started or ended. False: none has. `isTick`: looks by all means. */
  checkWorkers(isTick: boolean): boolean {
    return [...this.#lanes.values()].filter((lane) => lane.checkLife(isTick)).length > 0;
  }

  /** No further calls will be made: a worker that ends is replaced only if calls wait for one. */
  drain(): void {
    this.isDraining = true;
  }

  /** Closes all workers. Settles when all are gone. */
  async close(): Promise<void> {
    this.isClosing = true;
    this.sizing?.close();
    for (const timer of this.#timers) timer.clear();
    this.#timers.clear();
    this.#recycling?.close();
    if (this.#lanes.size === 0) fixedPools.delete(this);
    const ends: Promise<void>[] = [];
    for (const lane of this.#lanes.values()) ends.push(lane.end("the pool was closed"));
    await Promise.all(ends);
  }

  get alive(): number {
    let alive = (this.#stopping?.occupied ?? 0) + (this.#recycling?.occupied ?? 0);
    for (const lane of this.#lanes.values()) if (isAlive(lane)) alive++;
    return alive;
  }

  get starting(): number {
    return [...this.#lanes.values()]
      .filter(({ phase }) => phase === "starting" || phase === "preparing").length;
  }

  spawn(id: number = this.#nextId++): Lane {
    const lane = new ThreadLane(id, this.#options, this.events, this);
    this.started++;
    this.#lanes.set(lane.id, lane);
    if (this.lanes.all.length === 0 && lane.mirror === undefined) this.lanes.starting ??= lane;
    this.sizing?.onStarted(lane);
    return lane;
  }

  onReady(lane: Lane): void {
    this.#wasAnyReady = true;
    this.#failures?.onReady();
    this.events.onPrepare(lane, () => this.#open(lane));
  }

  /** A worker that is prepared takes calls. */
  #open(lane: Lane): void {
    if (!this.dispatcher.phases.open(lane)) return;
    if (this.lanes.open.length >= this.#firstThreads) this.#becomeReady();
    this.events.onWorkerStart(lane.id); // last: a listener may do anything
  }

  #becomeReady(): void {
    if (this.#wereAllReady) return;
    this.#wereAllReady = true;
    this.events.onReady();
  }

  onEnd(lane: ThreadLane, end: LaneEnd): void {
    this.#lanes.delete(lane.id);
    this.#active.subtract(lane.activeShare);
    const { replacedBy, isSuccessor = false } = this.#recycling?.onGone(lane) ?? {};
    const exit: ExitOf = { ...end, callsLost: 0, replacedBy };
    const calls = this.dispatcher.phases.onGone(lane);
    if (this.isClosing) {
      if (this.#lanes.size === 0) fixedPools.delete(this);
      this.events.onWorkerExit({ ...exit, callsLost: calls.length }, undefined);
      return;
    }
    if (end.wasAsked) {
      this.checkLoad(); // a call may have been made meanwhile
      this.events.onWorkerExit(exit, undefined);
      return;
    }
    const error = (): WorkerLostError =>
      new WorkerLostError(end, { cause: end.cause ?? end.startError });
    this.events.onEnded(lane.id, error);
    for (const call of calls) {
      if (this.dispatcher.waiting.retry(call)) continue;
      exit.callsLost++;
      this.events.onLost(call, error());
    }
    this.lost++;
    const continues = this.#replaceLost(lane, end, isSuccessor, exit);
    // Last: a listener may do anything, even close the pool.
    this.events.onWorkerExit(exit, continues ? error() : undefined);
  }

  /** Starts another worker. False: the pool has failed. */
  #replaceLost(lane: ThreadLane, end: LaneEnd, isSuccessor: boolean, exit: ExitOf): boolean {
    if (isSuccessor && end.startError !== undefined) {
      this.#recycling!.pause();
    } else if (end.neverBegan && this.#goOnWithout(end.startError!, false)) return false;
    else if (!this.#canContinue(lane, end, { cause: end.cause ?? end.startError })) return false;
    exit.replacedBy ??= this.replaceLater();
    this.checkLoad();
    return true;
  }

  /** Whether to start further workers after this end. False: the pool has failed. */
  #canContinue(lane: ThreadLane, end: LaneEnd, options: ErrorOptions): boolean {
    const { responses } = this.dispatcher;
    if (end.startError !== undefined && this.#hasFailed(end.startError)) return false;
    const isUnproductive = !lane.hasResponded && !(end.cause instanceof TimeoutError);
    const error = this.#getFailures().countEnd(
      isUnproductive,
      responses.taken,
      end.reason,
      options,
    );
    if (error !== undefined) this.events.onFailed(error);
    return error === undefined;
  }

  /** Counts a failed start. True: the pool has failed with it. */
  #hasFailed(error: Error): boolean {
    const failures = this.#getFailures();
    const hasFailed = failures.countFailedStart(this.dispatcher.lanes.open.length);
    if (hasFailed) this.events.onFailed(failures.startError(error));
    return hasFailed;
  }

  #getFailures(): WorkerFailures {
    return this.#failures ??= new WorkerFailures(this.#wasAnyReady);
  }

  /** Starts a replacement soon, unless there are enough workers. Returns its id, which is then reserved; `reserved` is one that was. */
  replaceLater(reserved?: number): number | undefined {
    const { queued } = this.dispatcher.waiting;
    if (this.isDraining && queued === 0) return undefined;
    const alive = this.alive + this.#timers.size;
    if (alive >= this.size.maxThreads || (alive >= this.size.minThreads && queued === 0)) {
      return undefined;
    }
    if (this.sizing?.mayStart(alive) === false) return undefined;
    const id = reserved ?? this.#nextId++;
    const timer = this.runtime.setTimeout(() => {
      this.#timers.delete(timer);
      if (this.isClosing || this.sizing?.mayStart(this.alive) === false) return;
      this.startOrReplaceLater(id);
    }, this.#getFailures().delayMs);
    // Calls in flight and starting workers keep the process running. An idle pool must not.
    if (this.#wereAllReady) timer.unref();
    this.#timers.add(timer);
    return id;
  }

  startOrReplaceLater(id?: number): void {
    if (this.#fallback?.isLoading) return; // one starts then
    try {
      this.spawn(id);
    } catch (error) {
      if (this.#goOnWithout(error as Error, false)) return;
      if (!this.#hasFailed(error as Error)) this.replaceLater(id);
    }
  }
}
