/**
 * Keeps a pool's workers running: starts them, replaces the ones that end, closes them all.
 *
 * A worker that cannot start before any worker of the pool was ready fails the pool: the task modules
 * are broken. So do several in a row later on, if there is none that takes calls, and ten that end, without an answer of
 * theirs or of any other worker in between; those that heddle itself has stopped do not count. Other deaths are replaced,
 * after a pause that grows with each such worker. How many there are between the pool's limits is for `elastic.ts` to say.
 *
 * A worker that has had its share of calls or memory goes on until another is ready in its place, then
 * drains: it takes no more calls, and is closed when it has answered those it has.
 */
import { TimeoutError, WorkerLostError, WorkerStartError } from "../../errors.ts";
import type { AwakeCount } from "../../sync/awake-count.ts";
import type { Runtime, Timer } from "../../runtimes/runtime.ts";
import { AbandonedThreads } from "./abandoned-threads.ts";
import { Autoscaler } from "./autoscaler.ts";
import type { Lane } from "../balance/lane.ts";
import { type LaneEnd, type LaneEvents, type LaneOptions, ThreadLane } from "./thread-lane.ts";
import type { PendingCall } from "../in-flight.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";

/** First pause before a replacement. */
const BACK_OFF_MS = 5;
const MAX_BACK_OFF_MS = 500;
/** So many workers in a row that fail to start fail the pool. */
const MAX_START_FAILURES = 5;
/** The same for workers that end before they have answered anything. */
const MAX_USELESS = 10;
/** Pause after a worker could not be replaced by a fresh one. */
const RECYCLE_PAUSE_MS = 5000;
/** Between two looks at workers that drain: so long, at least, may they go on with what nobody waits for. */
const DRAIN_LOOK_MS = 5000;

/** How many workers there may be, how long one of them may have nothing to do, and how many threads may be left. */
export interface PoolSize {
  readonly minThreads: number;
  readonly maxThreads: number;
  readonly idleTimeoutMs: number;
  readonly maxAbandonedThreads: number;
}

export interface SupervisorEvents {
  onWake(): void;
  onUnhandledRejection(workerId: number, error: Error): void;
  /** The pool's least number of workers is ready for the first time. */
  onReady(): void;
  /** The pool cannot work: rejects every call from now on. */
  onFailed(error: Error): void;
  /** Rejects a call that a worker was running which is gone. */
  onLost(call: PendingCall, error: WorkerLostError): void;
  /**
   * A worker ended that was not asked to; the calls that it was running have been rejected. `wasReported`: one of them
   * has, so that its caller knows.
   */
  onWorkerLost(error: WorkerLostError, wasReported: boolean): void;
  /** The thread of a stopped worker goes on. */
  onThreadAbandoned(workerId: number): void;
}

export class Supervisor {
  /** Workers started over the life of the pool. */
  started = 0;
  lost = 0;

  readonly #lanes = new Map<number, ThreadLane>();
  readonly #runtime: Runtime;
  readonly #dispatcher: Dispatcher;
  readonly #options: LaneOptions;
  readonly #events: SupervisorEvents;
  readonly #active: AwakeCount;
  readonly #timers = new Set<Timer>();
  readonly #laneEvents: LaneEvents;
  readonly #minThreads: number;
  readonly #maxThreads: number;
  readonly #elastic: Autoscaler;
  /** Workers that were asked to leave because they had nothing to do. */
  readonly #retired = new Set<Lane>();
  /** Workers that have taken their share of calls, by the one that is starting in their place. */
  readonly #worn = new Map<Lane, Lane>();
  /** Workers that others have replaced so. */
  recycled = 0;
  /** Of those, the ones that have calls to answer. */
  readonly #draining = new Set<Lane>();
  readonly #abandoned: AbandonedThreads;
  /** Workers that would be stopped, were there not too many abandoned threads. */
  readonly #stuck = new Set<Lane>();
  #drainLook: Timer | undefined;
  #recycleFromMs = 0;
  #startFailures = 0;
  #uselessInARow = 0;
  /** Answers taken when a worker last ended without one of its own. */
  #answersAtUseless = 0;
  #wasAnyReady = false;
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
    this.#minThreads = size.minThreads;
    this.#maxThreads = size.maxThreads;
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
    this.#elastic = new Autoscaler({
      ...size,
      runtime: options.runtime,
      lanes: () => dispatcher.lanes.open,
      alive: () => this.#alive + this.#timers.size,
      isBackingOff: () => this.#timers.size > 0,
      isWaiting: () => dispatcher.isShortOfWorkers,
      start: () => this.#startOrReplaceLater(),
      retire: (lane) => this.retire(lane),
    });
    this.#laneEvents = {
      onReady: (lane) => this.#onReady(lane),
      onWake: () => events.onWake(),
      onUnhandledRejection: (lane, error) => events.onUnhandledRejection(lane.id, error),
      onFull: (lane, isFarOver) => this.#onFull(lane, isFarOver),
      onEnd: (lane, end) => this.#onEnd(lane, end),
    };
  }

  /** Workers that have not ended. */
  get threads(): Iterable<ThreadLane> {
    return this.#lanes.values();
  }

  /** Starts the workers. Throws what starting a thread throws; those started before are closed. */
  start(): void {
    try {
      for (let thread = 0; thread < this.#minThreads; thread++) this.#spawn();
    } catch (error) {
      void this.close();
      throw error;
    }
    if (this.#minThreads === 0) this.#becomeReady();
  }

  /** Threads of stopped workers that go on. */
  get abandonedThreads(): number {
    return this.#abandoned.size;
  }

  /** Factor, at least 1, by which limits that stop workers are longer for now. */
  get stretch(): number {
    return this.#abandoned.stretch(this.#dispatcher.lanes.busyCount);
  }

  /** Stops a worker whose time is up, or keeps it without further calls where its thread would be one too many. */
  stop(lane: Lane, error: Error): void {
    if (!this.#abandoned.mayStop(lane)) {
      this.#keepStuck(lane, error);
      return;
    }
    const goesOn = this.#abandoned.add(lane);
    this.#dispatcher.failLane(lane, error);
    if (goesOn) this.#events.onThreadAbandoned(lane.id);
  }

  /** What waits for it runs elsewhere; it leaves when it has answered. Without another worker the pool fails. */
  #keepStuck(lane: Lane, cause: Error): void {
    if (this.#stuck.has(lane) || this.#isClosing) return;
    this.#stuck.add(lane);
    this.#dispatcher.retire(lane);
    if (this.#alive + this.#timers.size > this.#stuck.size || this.#alive < this.#maxThreads) {
      return;
    }
    const what =
      `No worker is left: ${this.#stuck.size} run tasks that cannot be stopped, beside ` +
      `${this.#abandoned.size} abandoned threads (maxAbandonedThreads)`;
    this.#events.onFailed(new WorkerStartError(`${what}.`, { cause }));
  }

  /** Calls may be waiting for a worker that is not there yet. */
  look(): void {
    this.#elastic.look();
  }

  /** No further calls are coming: a worker that ends now is replaced only if calls wait for one. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Ends all workers. Settles when none is left. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#elastic.close();
    for (const timer of this.#timers) timer.clear();
    this.#timers.clear();
    this.#drainLook?.clear();
    await Promise.all([...this.#lanes.values()].map((lane) => lane.close()));
  }

  /**
   * Workers that take calls, or will as soon as they have started, and stuck ones. Beyond `maxThreads`, those that drain
   * count too.
   */
  get #alive(): number {
    const { open } = this.#dispatcher.lanes;
    let alive = this.#stuck.size + Math.max(0, this.#draining.size - this.#maxThreads);
    for (const lane of this.#lanes.values()) {
      if (lane.state === "starting" || open.includes(lane)) alive++;
    }
    return alive;
  }

  #spawn(): Lane {
    const lane = new ThreadLane(this.started++, this.#options, this.#laneEvents);
    this.#lanes.set(lane.id, lane);
    return lane;
  }

  /** A worker holds more memory than it should. If far more, it gets no calls while another starts. */
  #onFull(lane: Lane, isFarOver: boolean): void {
    if (lane.endpoint.tx.sequence === 0) return; // it has done nothing
    const { lanes } = this.#dispatcher;
    this.recycle(lane);
    if (!isFarOver || this.#isClosing || !lanes.open.includes(lane)) return;
    this.#letDrain(lane);
    this.#dispatcher.retire(lane);
    if (![...this.#worn.values()].includes(lane)) this.#replaceLater();
  }

  /**
   * A worker has taken its share of calls, or of memory: it goes on until another is ready in its place. False: not
   * now; the next answers, or the worker, bring it here again.
   */
  recycle(worn: Lane): boolean {
    if (this.#isClosing || this.#isDraining || !this.#dispatcher.lanes.open.includes(worn)) {
      return false;
    }
    if ([...this.#worn.values()].includes(worn)) return false;
    if (this.#runtime.now() < this.#recycleFromMs) return false;
    // Those that drain may take long, and each is a thread.
    if (this.#draining.size + this.#worn.size >= this.#maxThreads) return false;
    try {
      this.#worn.set(this.#spawn(), worn);
      return true;
    } catch {
      return false;
    }
  }

  /** A worker has been given its last call: another takes its place, and it leaves when it has answered. */
  replaceUsedUp(lane: Lane): void {
    if (this.#isClosing || this.#draining.has(lane) || this.#retired.has(lane)) return;
    this.#letDrain(lane);
    this.#replaceLater();
  }

  #letDrain(lane: Lane): void {
    if (this.#draining.has(lane) || this.#retired.has(lane)) return;
    this.recycled++;
    this.#draining.add(lane);
    this.#drainLook ??= this.#watchDraining();
  }

  #onReady(lane: Lane): void {
    this.#startFailures = 0;
    this.#wasAnyReady = true;
    this.#dispatcher.addLane(lane);
    const worn = this.#worn.get(lane);
    if (worn !== undefined) {
      this.#worn.delete(lane);
      this.#letDrain(worn);
      this.#dispatcher.retire(worn); // unless it was, as it held far too much memory
    }
    this.#elastic.onReady();
    if (this.#dispatcher.lanes.open.length >= this.#minThreads) this.#becomeReady();
  }

  /** Looks now and then for workers that go on only with calls that nobody waits for. */
  #watchDraining(): Timer {
    const timer = this.#runtime.setTimeout(() => {
      for (const lane of this.#draining) {
        if (lane.load.outstanding === lane.load.abandoned.size) this.retire(lane);
      }
      this.#drainLook = this.#draining.size > 0 ? this.#watchDraining() : undefined;
    }, DRAIN_LOOK_MS);
    timer.unref();
    return timer;
  }

  #becomeReady(): void {
    if (this.#wereAllReady) return;
    this.#wereAllReady = true;
    this.#events.onReady();
  }

  /** Closes a worker that has nothing to do. */
  retire(lane: Lane): void {
    this.#dispatcher.removeLane(lane);
    this.#draining.delete(lane);
    this.#stuck.delete(lane);
    this.#retired.add(lane);
    void this.#lanes.get(lane.id)!.close();
  }

  #onEnd(lane: ThreadLane, end: LaneEnd): void {
    this.#lanes.delete(lane.id);
    this.#draining.delete(lane);
    this.#stuck.delete(lane);
    this.#active.takeBack(lane.activeShare);
    const calls = this.#dispatcher.removeLane(lane);
    if (this.#isClosing) return;
    const worn = this.#worn.get(lane);
    this.#worn.delete(lane);
    this.#forgetWorn(lane);
    if (this.#retired.delete(lane)) {
      this.#elastic.look(); // a call may have come meanwhile
      return;
    }
    const options = { cause: end.cause ?? end.startError };
    let wasReported = false;
    for (const call of calls) {
      if (this.#dispatcher.waiting.retry(call)) continue;
      wasReported = true;
      this.#events.onLost(call, new WorkerLostError(end, options));
    }
    this.lost++;
    if (worn !== undefined && end.startError !== undefined) {
      // The one that it was to replace goes on.
      this.#recycleFromMs = this.#runtime.now() + RECYCLE_PAUSE_MS;
    } else if (!this.#mayGoOn(lane, end, options)) return;
    this.#replaceLater();
    this.#elastic.look();
    // Last: a listener may do anything, closing the pool included.
    this.#events.onWorkerLost(new WorkerLostError(end, options), wasReported);
  }

  /** Whoever starts in the place of this worker, which has ended, does so for itself. */
  #forgetWorn(worn: Lane): void {
    for (const [successor, lane] of this.#worn) if (lane === worn) this.#worn.delete(successor);
  }

  /** Whether workers should be started after this one; if not, the pool has failed. */
  #mayGoOn(lane: ThreadLane, end: LaneEnd, options: ErrorOptions): boolean {
    if (end.startError !== undefined && this.#isStartHopeless()) {
      this.#fail(end.startError);
      return false;
    }
    const { taken } = this.#dispatcher.answers;
    const isUseless = !lane.hasAnswered && !(end.cause instanceof TimeoutError);
    if (!isUseless || taken !== this.#answersAtUseless) this.#uselessInARow = 0;
    if (isUseless) this.#uselessInARow++;
    this.#answersAtUseless = taken;
    if (this.#uselessInARow < MAX_USELESS) return true;
    const what = `${MAX_USELESS} workers in a row ended before they had answered a call`;
    this.#events.onFailed(new WorkerStartError(`${what}; the last: ${end.reason}.`, options));
    return false;
  }

  /** Counts a failed start. A pool whose workers take calls goes on with those it has. */
  #isStartHopeless(): boolean {
    this.#startFailures++;
    if (!this.#wasAnyReady) return true;
    return this.#startFailures >= MAX_START_FAILURES && this.#dispatcher.lanes.open.length === 0;
  }

  #replaceLater(): void {
    const { queued } = this.#dispatcher.waiting;
    if (this.#isDraining && queued === 0) return;
    const alive = this.#alive + this.#timers.size;
    if (alive >= this.#maxThreads || (alive >= this.#minThreads && queued === 0)) return;
    const delayMs = Math.min(BACK_OFF_MS * 2 ** this.#uselessInARow, MAX_BACK_OFF_MS);
    const timer = this.#runtime.setTimeout(() => {
      this.#timers.delete(timer);
      if (!this.#isClosing) this.#startOrReplaceLater();
    }, delayMs);
    // Calls in flight keep the process running by themselves, and so does a worker that starts; an idle pool must not.
    if (this.#wereAllReady) timer.unref();
    this.#timers.add(timer);
  }

  #startOrReplaceLater(): void {
    try {
      this.#spawn();
    } catch (error) {
      if (this.#isStartHopeless()) this.#fail(error as Error);
      else this.#replaceLater();
    }
  }

  #fail(error: Error): void {
    this.#events.onFailed(
      this.#wasAnyReady
        ? new WorkerStartError(
          `${this.#startFailures} workers in a row could not be started: ${error.message}`,
          { cause: error },
        )
        : error,
    );
  }
}
