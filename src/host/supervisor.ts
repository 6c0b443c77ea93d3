/**
 * Keeps a pool's workers running: starts them, replaces the ones that end, closes them all.
 *
 * A worker that fails before any worker of the pool was ever ready fails the pool: the task modules
 * are broken. Later deaths are replaced, after a pause that grows while replacements keep failing.
 */
import { WorkerLostError, WorkerStartError } from "../errors.ts";
import type { Runtime, Timer } from "../runtimes/runtime.ts";
import { Lane, type LaneEnd, type LaneEvents, type LaneOptions } from "./lane.ts";
import type { Scheduler } from "./scheduler.ts";

/** First pause before a replacement; doubles with each failure in a row. */
const BACK_OFF_MS = 10;
const MAX_BACK_OFF_MS = 2000;
/** So many workers in a row that fail to start fail the pool. */
const MAX_START_FAILURES = 5;

export interface SupervisorEvents {
  onWake(): void;
  onUnhandledRejection(workerId: number, error: Error): void;
  /** Every worker is ready for the first time. */
  onReady(): void;
  /** The pool cannot work: rejects every call from now on. */
  onFailed(error: Error): void;
  /** A worker ended that was not asked to; its calls have been rejected. */
  onWorkerLost(error: WorkerLostError): void;
}

export class Supervisor {
  /** Workers started over the life of the pool. */
  started = 0;
  lost = 0;

  readonly #lanes = new Set<Lane>();
  readonly #runtime: Runtime;
  readonly #scheduler: Scheduler;
  readonly #options: LaneOptions;
  readonly #events: SupervisorEvents;
  readonly #addActive: (delta: -1) => void;
  readonly #timers = new Set<Timer>();
  readonly #laneEvents: LaneEvents;
  readonly #threads: number;
  #startFailures = 0;
  #isReady = false;
  #isClosing = false;

  constructor(
    threads: number,
    options: LaneOptions,
    scheduler: Scheduler,
    addActive: (delta: -1) => void,
    events: SupervisorEvents,
  ) {
    this.#threads = threads;
    this.#runtime = options.runtime;
    this.#scheduler = scheduler;
    this.#options = options;
    this.#addActive = addActive;
    this.#events = events;
    this.#laneEvents = {
      onReady: (lane) => this.#onReady(lane),
      onWake: () => events.onWake(),
      onUnhandledRejection: (lane, error) => events.onUnhandledRejection(lane.id, error),
      onEnd: (lane, end) => this.#onEnd(lane, end),
    };
    for (let thread = 0; thread < threads; thread++) this.#spawn();
  }

  /** Every worker whose thread is not gone. */
  get lanes(): Iterable<Lane> {
    return this.#lanes;
  }

  /** Ends all workers. Settles when none is left. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const timer of this.#timers) timer.clear();
    this.#timers.clear();
    await Promise.all([...this.#lanes].map((lane) => lane.close()));
  }

  #spawn(): void {
    this.#lanes.add(new Lane(this.started++, this.#options, this.#laneEvents));
  }

  #onReady(lane: Lane): void {
    this.#startFailures = 0;
    this.#scheduler.addLane(lane);
    if (this.#isReady || this.#scheduler.lanes.length < this.#threads) return;
    this.#isReady = true;
    this.#events.onReady();
  }

  #onEnd(lane: Lane, end: LaneEnd): void {
    this.#lanes.delete(lane);
    if (lane.takeActiveShare() === 1) this.#addActive(-1);
    const slots = this.#scheduler.removeLane(lane);
    if (this.#isClosing) return;
    if (end.startError !== undefined) this.#startFailures++;
    const options = { cause: end.cause ?? end.startError };
    for (const slot of slots) {
      this.#scheduler.inFlight.reject(slot, new WorkerLostError(end, options));
    }
    if (
      end.startError !== undefined && (!this.#isReady || this.#startFailures >= MAX_START_FAILURES)
    ) {
      this.#fail(end.startError);
      return;
    }
    this.lost++;
    this.#events.onWorkerLost(new WorkerLostError(end, options));
    const delayMs = Math.min(BACK_OFF_MS * 2 ** this.#startFailures, MAX_BACK_OFF_MS);
    const timer = this.#runtime.setTimeout(() => {
      this.#timers.delete(timer);
      this.#spawn();
    }, delayMs);
    // Calls in flight keep the process running by themselves; an idle pool must not.
    timer.unref();
    this.#timers.add(timer);
  }

  #fail(error: Error): void {
    this.#events.onFailed(
      this.#isReady
        ? new WorkerStartError(
          `${this.#startFailures} workers in a row could not be started: ${error.message}`,
          { cause: error },
        )
        : error,
    );
  }
}
