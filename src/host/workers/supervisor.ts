/**
 * Keeps a pool's workers running: starts them, replaces those that end, closes them all.
 *
 * A worker that fails to start before any worker was ready fails the pool, since its task modules are broken, unless a signal has
 * ended its process. Later the pool fails after several failed starts in a row without an open worker, or after ten workers in a row that end
 * without a call, if no other worker responds in between. Workers stopped for a time limit are exempt. Others are
 * replaced, after a delay that grows with each consecutive worker that answered nothing.
 *
 * Features decide how many workers a pool has, replace those that have reached a limit, and stop them (`feature.ts`).
 */
import { Map, Promise, Set } from "../../builtins.ts";
import { TimeoutError, WorkerLostError, WorkerStartError } from "../../errors.ts";
import type { AwakeCount } from "../../sync/awake-count.ts";
import type { HostRuntime, Timer } from "../../runtimes/runtime.ts";
import type { WorkerHandle } from "../../runtimes/worker-handle.ts";
import {
  type Fallback,
  makers,
  type PoolSize,
  type Recycling,
  type Sizing,
  type Stopping,
  type SupervisorEvents,
  type WorkerExit,
  type Workers,
} from "./feature.ts";
import type { Lane } from "../lanes/lane.ts";
import type { LaneSet } from "../lanes/lane-set.ts";
import { isAlive } from "../lanes/phase.ts";
import { type LaneEnd, type LaneOptions, type LaneOwner, ThreadLane } from "./thread-lane.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";

export type { PoolSize, SupervisorEvents, WorkerExit };

/** Failed starts in a row that fail the pool. */
const MAX_START_FAILURES = 5;
/** Processes in a row that may be killed while they start: the system may lack memory for a moment. */
const MAX_KILLED_STARTS = 3;
/** Workers in a row without an answer that fail the pool, if they had no calls to run either. */
const MAX_UNPRODUCTIVE = 10;
/** First delay before a replacement. */
const BACK_OFF_MS = 5;
const MAX_BACK_OFF_MS = 500;

export class Supervisor implements LaneOwner, Workers {
  /** Workers started over the life of the pool. */
  started = 0;
  lost = 0;
  isDraining = false;
  isClosing = false;
  readonly runtime: HostRuntime;
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
  /** Each is undefined until it is needed, and without its feature. */
  #fallback: Fallback | undefined;
  #recycling: Recycling | undefined;
  #stopping: Stopping | undefined;
  #firstThreads = 0;
  #wasAnyReady = false;
  #wereAllReady = false;
  /** Failed starts in a row, and workers in a row that ended without an answer. */
  #startFailures = 0;
  #unproductive = 0;
  /** Responses taken when a worker last ended without one of its own. */
  #responsesAtLastFailure = 0;
  #nextId = 0;

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
    this.sizing = makers.sizing?.(this);
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

  /** Starts the workers. Throws what starting a thread throws; those started before are closed. */
  start(): void {
    if (this.size.isOnHost === true) {
      this.#fallback = makers.fallback!(this);
      return this.#fallback.useHost();
    }
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

  get recycling(): Recycling | undefined {
    return this.#recycling ??= makers.recycling?.(this);
  }

  /** Number of workers recycled so far. */
  get recycled(): number {
    return this.#recycling?.recycled ?? 0;
  }

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
    if (this.lanes.open.length >= this.size.maxThreads) return;
    if (this.isClosing || this.delayed > 0 || !this.mayStart) return;
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
    const ends: Promise<void>[] = [];
    for (const lane of this.#lanes.values()) ends.push(lane.end("the pool was closed"));
    await Promise.all(ends);
  }

  /** Of those that drain only what is beyond `maxThreads`, and those that cannot be stopped. */
  get alive(): number {
    let alive = 0;
    let draining = 0;
    for (const lane of this.#lanes.values()) {
      if (isAlive(lane) || (lane.isUnstoppable && lane.phase === "draining")) alive++;
      else if (lane.phase === "draining") draining++;
    }
    return alive + Math.max(0, draining - this.size.maxThreads);
  }

  get starting(): number {
    return [...this.#lanes.values()]
      .filter(({ phase }) => phase === "starting" || phase === "preparing").length;
  }

  spawn(id: number = this.#nextId++): Lane {
    const slots = Array.from(this.#lanes.values(), ({ slot }) => slot);
    let slot = 1;
    while (slots.includes(slot)) slot++;
    const lane = new ThreadLane(id, slot, this.#options, this);
    this.started++;
    this.#lanes.set(lane.id, lane);
    if (this.lanes.all.length === 0 && lane.mirror === undefined) {
      this.lanes.starting ??= lane;
      if (this.dispatcher.waiting.queued > 0) this.dispatcher.pending.kick();
    }
    this.sizing?.onStarted(lane);
    return lane;
  }

  onReady(lane: Lane): void {
    this.#wasAnyReady = true;
    this.#startFailures = 0;
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
    const calls = this.dispatcher.phases.onGone(lane);
    let { replacedBy } = lane;
    let callsLost = this.isClosing ? calls.length : 0;
    const report = (error?: WorkerLostError): void =>
      this.events.onWorkerExit({ ...end, callsLost, replacedBy }, error);
    if (this.isClosing || end.wasAsked) {
      if (!this.isClosing) this.checkLoad(); // a call may have been made meanwhile
      return report();
    }
    const cause = end.cause ?? end.startError;
    const stderr = end.stderr ?? makers.lastErrors?.(lane);
    const error = (task?: string): WorkerLostError =>
      new WorkerLostError({ ...end, stderr, task }, { cause });
    this.events.onEnded(lane.id, () => error());
    for (const call of calls) {
      if (this.dispatcher.waiting.retry(call)) continue;
      callsLost++;
      this.events.onLost(call, error);
    }
    this.lost++;
    const continues = this.#canContinue(lane, end, calls.length > 0, cause);
    if (continues) {
      replacedBy ??= this.replaceLater();
      this.checkLoad();
    }
    report(continues ? error() : undefined); // last: a listener may do anything, even close the pool
  }

  /**
   * Whether to start further workers after this end. False: the pool has failed, or goes on otherwise. With each worker that `hadCalls`
   * calls are settled, so those that end their workers, however many, fail alone.
   */
  #canContinue(lane: ThreadLane, end: LaneEnd, hadCalls: boolean, cause: unknown): boolean {
    const { startError } = end;
    if (startError !== undefined) {
      if (lane.replaces !== undefined) return true; // the worker that it was to replace continues
      if (end.neverBegan && this.#goOnWithout(startError, false)) return false;
      if (this.#hasFailed(startError, end.signal !== undefined)) return false;
    }
    const { taken } = this.dispatcher.responses;
    const isUnproductive = !lane.hasResponded && !hadCalls && !(end.cause instanceof TimeoutError);
    if (!isUnproductive || taken !== this.#responsesAtLastFailure) this.#unproductive = 0;
    if (isUnproductive) this.#unproductive++;
    this.#responsesAtLastFailure = taken;
    if (this.#unproductive < MAX_UNPRODUCTIVE) return true;
    const message = `${MAX_UNPRODUCTIVE} workers in a row ended before they had a call`;
    this.events.onFailed(new WorkerStartError(`${message}; the last: ${end.reason}.`, { cause }));
    return false;
  }

  /** Counts a failed start. True: the pool has failed with it. A pool with open workers goes on with them. */
  #hasFailed(error: Error, isKilled = false): boolean {
    const failures = ++this.#startFailures;
    if (isKilled && failures <= MAX_KILLED_STARTS) return false;
    if (!this.#wasAnyReady) {
      this.events.onFailed(error);
      return true;
    }
    if (failures < MAX_START_FAILURES || this.lanes.open.length > 0) return false;
    const message = `${failures} workers in a row could not be started: ${error.message}`;
    this.events.onFailed(new WorkerStartError(message, { cause: error }));
    return true;
  }

  /** Starts a replacement soon, unless there are enough workers. Returns its id, which is then reserved; `reserved` is one that was. */
  replaceLater(reserved?: number): number | undefined {
    const { size: { minThreads, maxThreads }, dispatcher: { waiting: { queued } } } = this;
    const alive = this.alive + this.delayed;
    const isEnough = alive >= maxThreads ||
      (queued === 0 && (this.isDraining || alive >= minThreads));
    if (isEnough || this.sizing?.mayStart(alive) === false) return undefined;
    const id = reserved ?? this.#nextId++;
    const failures = Math.max(this.#unproductive, this.#startFailures);
    const timer = this.runtime.setTimeout(() => {
      this.#timers.delete(timer);
      if (this.isClosing || this.sizing?.mayStart(this.alive) === false) return;
      this.startOrReplaceLater(id);
    }, Math.min(BACK_OFF_MS * 2 ** failures, MAX_BACK_OFF_MS));
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
