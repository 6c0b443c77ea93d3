/**
 * Calls that wait on the host now or later: admits them, sends them, oldest first, as soon as a lane has room,
 * and retries calls whose worker was lost.
 */
import type { Snapshot } from "../../../lane/snapshot.ts";
import type { TaskTimings } from "../../../metering/task-timings.ts";
import type { Timer } from "../../../runtimes/runtime.ts";
import { CallQueue } from "./call-queue.ts";
import type { EarlyTask, QueuedCall } from "../../calls/queued-call.ts";
import { type InFlight, type PendingCall, QUEUED_ON_HOST } from "../../calls/in-flight.ts";
import type { Lane } from "../../lanes/lane.ts";
import type { LaneSet } from "../../lanes/lane-set.ts";
import type { LaneChooser } from "../../schedule/placement.ts";
import type { PendingWork } from "../../calls/pending-work.ts";
import type { CreatePinned, PinnedQueue } from "./pinned-queue.ts";
import type { QueueBound } from "./queue-bound.ts";
import type { Sender } from "./sender.ts";

/** Delays before a call is retried. */
const FIRST_RETRY_MS = 10;
const MAX_RETRY_MS = 1000;

export interface WaitingOptions {
  readonly inFlight: InFlight;
  readonly lanes: LaneSet;
  readonly pending: PendingWork;
  readonly placement: LaneChooser;
  readonly sender: Sender;
  readonly backpressure: QueueBound;
  /** Undefined: no call is for certain workers. */
  readonly createPinned?: CreatePinned | undefined;
  readonly taskTimings: TaskTimings;
  readonly setTimeout: (callback: () => void, delayMs: number) => Timer;
  readonly events: {
    /** A call has to wait. */
    onWait(): void;
  };
}

/** Runs some calls on the host itself. */
export interface Inliner {
  /** Calls run so far. */
  readonly ran: number;
  /** Whether the host takes this call before any worker; `coming`: 1 if it is not in flight yet. */
  takesFirst(task: number, coming: 0 | 1): boolean;
  /** Whether the host may take a call of this task now. */
  hasRoom(task: number, coming: 0 | 1): boolean;
  /** Takes a call. False: only a worker can run it. */
  take(call: QueuedCall): boolean;
}

/** What sends the first call before any worker is ready. */
interface EarlyStart {
  /** No call is sent early any more. */
  end(): void;
  /** False: the call has to wait. */
  start(queued: QueuedCall): boolean;
  onTasksKnown(): void;
}

export class WaitingCalls {
  /** Undefined: the host runs no calls. */
  inliner: Inliner | undefined;
  /** Undefined: calls wait until a worker is ready. */
  early: EarlyStart | undefined;
  /** Calls made again because their worker was lost. */
  retried = 0;
  readonly #options: WaitingOptions;
  readonly #pending: PendingWork;
  /** Calls that any worker may run. Only this class changes it. */
  readonly queue: CallQueue = new CallQueue();
  /** Calls that only certain workers may run. Made with the first. */
  pinned: PinnedQueue | undefined;
  /** Ids of the workers that take calls or are starting. */
  workerIds: () => readonly number[];
  /** Whether a worker takes calls, is starting, or may be started. */
  hasWorker: () => boolean = () => true;
  /** Approximate number of settled calls in the queue. */
  #staleEntries = 0;
  /** Calls that will be queued: when promises among their arguments settle, or after a retry delay. */
  #deferred = 0;

  constructor(options: WaitingOptions) {
    this.#options = options;
    this.#pending = options.pending;
    this.workerIds = () => options.lanes.open.map(({ id }) => id);
  }

  /** Calls in the queue. */
  get queued(): number {
    return this.queue.size;
  }

  /** Whether polls have something to do here. */
  get isDue(): boolean {
    return this.queue.size > 0 || this.#options.backpressure.needsDrain ||
      (this.pinned !== undefined && this.pinned.size > 0);
  }

  /** Calls that one more worker could start now. */
  get runnable(): number {
    const { placement, lanes } = this.#options;
    return this.queue.size + (this.pinned?.unassigned ?? 0) +
      placement.depth.excessOf(lanes.open);
  }

  /** Calls that wait on the host, will wait there, or wait beyond the usual window of a ring. */
  get #size(): number {
    const { pinned } = this;
    const ofOne = pinned === undefined ? 0 : pinned.size - pinned.unassigned;
    return this.runnable + ofOne + this.#deferred;
  }

  /** Workers that have no call: each may take one that waits for it, such as one with large arguments. */
  get #idle(): number {
    let idle = 0;
    for (const { load } of this.#options.lanes.open) if (load.outstanding === 0) idle++;
    return idle;
  }

  /** Throws QueueFullError if no further call may wait. */
  admit(): void {
    const { backpressure } = this.#options;
    if (!backpressure.mayRefuse) return;
    if (this.#staleEntries > 0 && backpressure.isFull(this.#size)) this.prune();
    if (this.#size >= this.#idle) backpressure.admit(this.#size);
  }

  /** A call that waited on the host was settled: its entry is removed before too many accumulate. */
  onQueuedSettled(): void {
    if (++this.#staleEntries * 2 > this.queue.size + (this.pinned?.size ?? 0)) this.prune();
  }

  prune(): void {
    this.#staleEntries = 0;
    this.queue.prune((call) => this.#callOf(call) !== undefined);
    this.pinned?.prune();
    this.#options.backpressure.onShrunk(this.#size);
  }

  clear(): void {
    this.queue.clear();
    this.pinned?.clear();
    this.#options.backpressure.onShrunk(0);
  }

  /** A call was made that will be queued, unless it ends before. */
  addDeferred(): void {
    this.#deferred++;
    this.#noteGrowth();
  }

  /** An expected call is queued now, or is over. */
  endDeferred(): void {
    this.#deferred--;
    this.#pending.isDue = true;
    this.#pending.kick(); // the next poll may fire the drain event
  }

  has({ slot, generation }: PendingCall): boolean {
    return this.queue.has(slot, generation) || this.pinned?.has(slot, generation) === true;
  }

  /** Sends a call that waits on the host to the first of `lanes` that may run it, beyond their limits. */
  sendBeyondLimits(call: PendingCall, lanes: readonly Lane[]): void {
    const { slot, generation } = call;
    const queued = this.queue.find(slot, generation) ?? this.pinned?.find(slot, generation);
    if (queued === undefined || queued.early !== undefined) return;
    if (this.#callOf(queued) === undefined) return;
    const isSent = lanes.some((lane) =>
      this.pinned?.mayRun(lane, call) !== false && this.#sendSnapshot(lane, queued)
    );
    if (isSent) this.onQueuedSettled();
  }

  /** Puts already sent calls back at the front of their priority. */
  putBack(calls: readonly QueuedCall[]): void {
    if (calls.length === 0) return;
    this.#pending.isDue = true;
    const unpinned = calls.filter((queued) => {
      const call = this.#callOf(queued);
      if (call?.settings.affinity === undefined) return true;
      this.#pin(queued, call);
      return false;
    });
    this.queue.putBackAll(unpinned);
  }

  /**
   * Removes the calls whose tasks were not known and returns them in the order in which they were made. Each still counts as
   * one that waits, until `endDeferred()`.
   */
  takeEarly(): readonly QueuedCall[] {
    const early: QueuedCall[] = [];
    const others: QueuedCall[] = [];
    while (this.queue.size > 0) {
      const queued = this.queue.take()!;
      (queued.early === undefined ? others : early).push(queued);
    }
    for (const queued of others) this.queue.push(queued);
    this.#deferred += early.length;
    return early;
  }

  /** Sends a call to the lane chosen for it, or queues it. `early`: of a call whose task is not known. */
  add(
    call: PendingCall,
    task: number,
    snapshot: Snapshot,
    chosen?: Lane,
    early?: EarlyTask,
  ): void {
    const { departures } = snapshot;
    if (departures !== undefined) {
      if (early === undefined) call.carry(departures);
      else call.keep().departures = departures; // carried when its task is known
    }
    const { slot, generation, extra } = call;
    // Calls whose tasks are not known keep their order: their tasks may give them other priorities.
    const priority = early === undefined && extra !== undefined ? extra.settings.priority : 0;
    const queued = { slot, generation, task, early, snapshot, priority };
    if (extra !== undefined && extra.settings.retries > 0 && snapshot.isResendable) {
      extra.retryPayload = queued;
    }
    if (chosen !== undefined && this.queue.size === 0 && this.#sendSnapshot(chosen, queued)) {
      return;
    }
    if (snapshot.attached.length === 0) this.#push(queued, call);
    else {
      const queueable = this.#options.sender.detachForQueue(call, snapshot);
      if (queueable !== undefined) this.#push({ ...queued, snapshot: queueable }, call);
    }
    this.#pending.marked = undefined;
    this.#onPushed();
  }

  /** Retries a call whose worker was lost. False: it must not be retried. */
  retry(call: PendingCall): boolean {
    const { inFlight, setTimeout } = this.#options;
    const { extra } = call;
    if (extra?.retryPayload === undefined || extra.retries >= extra.settings.retries) {
      return false;
    }
    if (!extra.mayRetry) return false;
    const queued = inFlight.renew(call, extra, extra.retryPayload);
    this.retried++;
    call.lane = QUEUED_ON_HOST;
    this.#deferred++;
    const timer = setTimeout(() => {
      this.endDeferred();
      if (this.#callOf(queued) === undefined) return;
      this.#push(queued, call);
      this.#onPushed();
    }, retryDelayMs(extra.retries));
    timer.unref();
    return true;
  }

  /**
   * Sends queued calls, oldest first, while a lane has room. True: some were sent, dropped or rejected, or a balancer
   * changed the queue.
   */
  flush(): boolean {
    let hasSent = false;
    for (let next = this.queue.peek(); next !== undefined; next = this.queue.peek()) {
      if (this.#callOf(next) === undefined) this.queue.take();
      else if (!this.#trySend(next)) break;
      hasSent = true;
    }
    if (this.pinned?.flush() === true) hasSent = true;
    const { backpressure } = this.#options;
    if (hasSent || backpressure.needsDrain) backpressure.onShrunk(this.#size);
    return hasSent;
  }

  /** Sends the next call to a worker that is not ready. */
  startEarly(): void {
    const next = this.queue.peek();
    if (
      next !== undefined && this.#callOf(next) !== undefined && this.early?.start(next) === true
    ) {
      this.queue.take();
    }
  }

  /** One more call waits, perhaps beyond the usual window of a ring. */
  onGrown(): void {
    this.#noteGrowth();
    if (this.runnable > 0) this.#options.events.onWait();
  }

  #noteGrowth(): void {
    const { backpressure } = this.#options;
    backpressure.onGrown(this.#size);
    if (backpressure.needsDrain) this.#pending.isDue = true;
  }

  #onPushed(): void {
    try {
      this.flush();
      this.onGrown();
    } catch {
      // Probably a stack overflow; the next poll flushes.
    }
  }

  /** A call whose task is not known waits in the queue, whatever its affinity. */
  #push(queued: QueuedCall, call: PendingCall): void {
    this.#pending.isDue = true;
    const isPinned = call.extra?.settings.affinity !== undefined && queued.early === undefined;
    if (isPinned) this.#pin(queued, call);
    else this.queue.push(queued);
  }

  /** Puts a call that only certain workers may run among those. */
  #pin(queued: QueuedCall, call: PendingCall): void {
    if (this.pinned === undefined) {
      // Settings have an affinity only with the feature that makes this queue.
      this.pinned = this.#options.createPinned!({
        ...this.#options,
        workerIds: () => this.workerIds(),
        hasWorker: () => this.hasWorker(), // which the first request of a worker replaces
      });
    }
    this.pinned.add(queued, call);
  }

  /** The call of this entry while it waits on the host, otherwise undefined. */
  #callOf({ slot, generation }: QueuedCall): PendingCall | undefined {
    const call = this.#options.inFlight.find(slot, generation);
    return call?.lane === QUEUED_ON_HOST ? call : undefined;
  }

  /**
   * False: no lane can take it now. True: the entry is dealt with (sent, settled or stale), or no longer first.
   * Balancers may change the queue, so the queue is checked again afterwards. A call is settled if its balancer
   * throws or if it cannot be sent at all.
   */
  #trySend(queued: QueuedCall): boolean {
    if (queued.early !== undefined) return false;
    const { inliner } = this;
    const { placement, lanes, taskTimings, inFlight, sender } = this.#options;
    if (inliner?.takesFirst(queued.task, 0) === true && this.#inline(queued)) return true;
    const load = taskTimings.loadOf(queued.task);
    for (let left: readonly Lane[] = lanes.open;;) {
      let lane: Lane | undefined;
      try {
        lane = placement.pick(left, load);
      } catch (error) {
        const call = this.#callOf(queued);
        if (call !== undefined) inFlight.reject(call, error);
        return true;
      }
      if (this.queue.peek() !== queued || this.#callOf(queued) === undefined) return true;
      if (lane === undefined) break;
      if (sender.sendSnapshot(lane, queued, load)) {
        this.queue.take();
        return true;
      }
      placement.forget(lane);
      left = left.filter((other) => other !== lane);
    }
    return inliner?.hasRoom(queued.task, 0) === true && this.#inline(queued);
  }

  #inline(queued: QueuedCall): boolean {
    if (!this.inliner!.take(queued)) return false;
    this.queue.take();
    return true;
  }

  #sendSnapshot(lane: Lane, call: QueuedCall): boolean {
    const { sender, taskTimings } = this.#options;
    return sender.sendSnapshot(lane, call, taskTimings.loadOf(call.task));
  }
}

/**
 * Exponential back-off with full jitter (AWS Architecture Blog, "Exponential Backoff And Jitter"), but never zero.
 * `retry` counts from 1.
 */
function retryDelayMs(retry: number): number {
  return 1 + Math.random() * Math.min(FIRST_RETRY_MS * 2 ** (retry - 1), MAX_RETRY_MS);
}
