/**
 * Time limits of calls, by one timer for the whole pool that runs only while a call has a limit.
 *
 * No clock is read when a call is made, nor when it begins: each look stamps what it sees for the first
 * time, so limits count from the first look after the fact. They are never kept early, and about two
 * looks late at most (`CallSettings.tickMs` apart). What a worker has answered counts as in time: a look
 * takes the answers first, however long the host itself was busy. While a worker has responses that wait for room in its
 * ring nobody knows which calls they answer, so limits of what it has begun rest, but for no more than a second.
 */
import { TimeoutError } from "../../errors.ts";
import type { Timer } from "../../runtimes/runtime.ts";
import type { Cancellation } from "./cancellation.ts";
import type { InFlight, PendingCall } from "../in-flight.ts";
import type { Lane } from "../balance/lane.ts";
import type { LaneSet } from "../balance/lane-set.ts";
import { LastProgress } from "../last-progress.ts";
import { unbegunCalls } from "../balance/work-stealing.ts";

/** A look may take this share of the time until the next. */
const MOST_LOOKING = 1 / 20;
/**
 * What looking at a call takes is reckoned to be this at least, in milliseconds, and grows by this factor at most from
 * look to look: in one that took long the host may just not have had the processor.
 */
const LEAST_COST_MS = 0.0001;
const MOST_GROWTH = 1.5;
/**
 * A worker with calls to take that has neither taken nor answered one for so many hard timeouts does not run any,
 * and never will: each would have been stopped by its own limit.
 */
const SILENT_TIMEOUTS = 2;
/** How long limits rest while responses wait for room. */
const BACKLOG_GRACE_MS = 1000;
/** Between two looks at workers that may have to be stopped. */
const KILL_TICK_MS = 5;

export interface DeadlinesOptions {
  readonly inFlight: InFlight;
  readonly cancellation: Cancellation;
  readonly lanes: LaneSet;
  /** Of the pool, in milliseconds. */
  readonly hardTimeoutMs: number;
  readonly now: () => number;
  readonly setTimeout: (callback: () => void, delayMs: number) => Timer;
  /** Settles what has been answered. */
  readonly takeAnswers: () => void;
  /** Factor, at least 1, by which limits that stop workers are longer for now. */
  readonly stretch: () => number;
  /** Stops a worker; its calls are lost for this reason. */
  readonly stop: (lane: Lane, error: Error) => void;
}

export class Deadlines {
  readonly #options: DeadlinesOptions;
  #timer: Timer | undefined;
  #tickMs = Infinity;
  /** When the look that the timer is for is due. */
  #dueMs = 0;
  /** Whether the last look came so late that the host must have been busy. */
  #wasLate = false;
  #costMs = LEAST_COST_MS;
  /** Whether a lane has a backlog, and how far each was, and since when. */
  #backlogs = new LastProgress<boolean>();
  readonly #progress = new LastProgress<string>();

  constructor(options: DeadlinesOptions) {
    this.#options = options;
  }

  /** A call with a limit has been made, or a worker may have to be stopped: looks every `tickMs` now. */
  watch(tickMs: number = KILL_TICK_MS): void {
    if (tickMs >= this.#tickMs) return;
    // What was seen before the timer stopped says nothing about now.
    if (this.#timer === undefined) this.#backlogs = new LastProgress();
    this.#timer?.clear();
    this.#arm(tickMs, tickMs);
  }

  stop(): void {
    this.#timer?.clear();
    this.#timer = undefined;
    this.#tickMs = Infinity;
  }

  #arm(tickMs: number, delayMs: number): void {
    this.#tickMs = tickMs;
    this.#dueMs = this.#options.now() + delayMs;
    this.#timer = this.#options.setTimeout(() => this.#look(), delayMs);
    this.#timer.unref();
  }

  #look(): void {
    const { inFlight, now, lanes, takeAnswers } = this.#options;
    const lookMs = now();
    const isLate = lookMs - this.#dueMs > this.#tickMs;
    // Once: where the host is busy all the time, limits are kept late, but they are kept.
    const mayBeDone = isLate && !this.#wasLate;
    this.#wasLate = isLate;
    // Before the answers are taken: what a worker has put into its ring by then is among them.
    const resting = new Set(lanes.all.filter((lane) => this.#isBackedUp(lane, lookMs)));
    this.#timer = undefined;
    this.#tickMs = Infinity;
    takeAnswers();
    const startMs = now();
    let tickMs = Infinity;
    const calls = inFlight.timedCalls();
    for (const call of calls) {
      // What ends one call may run code that ends another.
      if (call.resolve === undefined) continue;
      const lane = lanes.byId(call.lane);
      const isUnknown = mayBeDone || (lane !== undefined && resting.has(lane));
      this.#check(call, startMs, isUnknown ? undefined : lookMs);
      tickMs = Math.min(tickMs, call.settings.tickMs);
    }
    for (const lane of lanes.all.slice()) {
      this.#checkLane(lane, mayBeDone || resting.has(lane), lookMs);
      if (lane.load.abandoned.hasLimits) tickMs = Math.min(tickMs, KILL_TICK_MS);
    }
    const costMs = Math.max((now() - startMs) / (calls.length + 1), LEAST_COST_MS);
    this.#costMs = Math.min(costMs, MOST_GROWTH * this.#costMs);
    // Calls made meanwhile may have set a tick of their own.
    if (tickMs >= this.#tickMs) return;
    this.stop();
    this.#arm(tickMs, Math.max(tickMs, this.#costMs * (calls.length + 1) / MOST_LOOKING));
  }

  /** Whether responses wait in the lane's worker, not for too long yet. */
  #isBackedUp(lane: Lane, nowMs: number): boolean {
    const { hasBacklog } = lane;
    return this.#backlogs.sinceMs(lane, hasBacklog, nowMs) > nowMs - BACKLOG_GRACE_MS && hasBacklog;
  }

  /** Stops a worker that goes on too long with what nobody waits for, or that has stopped taking calls. */
  #checkLane(lane: Lane, isUnknown: boolean, nowMs: number): void {
    const { stop, hardTimeoutMs, stretch } = this.#options;
    const isSilent = this.#isSilent(lane, nowMs);
    if (isUnknown) return;
    const late = lane.load.abandoned.findLate(nowMs, stretch());
    if (late !== undefined) stop(lane, new TimeoutError("hard", late.limitMs));
    else if (isSilent) stop(lane, new TimeoutError("silent", SILENT_TIMEOUTS * hardTimeoutMs));
  }

  /**
   * What has begun is judged as of `lookMs`, before the answers were taken: one that was given meanwhile may not have been
   * seen; undefined: not at all.
   */
  #check(call: PendingCall, nowMs: number, lookMs: number | undefined): void {
    const { cancellation, stretch } = this.#options;
    const { timeoutMs, deadlineMs } = call.settings;
    const hardTimeoutMs = call.settings.hardTimeoutMs * stretch();
    if (call.seenMs < 0) call.seenMs = nowMs;
    if (call.begunMs < 0 && cancellation.hasBegun(call)) call.begunMs = nowMs;
    const hasBegun = call.begunMs >= 0;
    const runMs = hasBegun && lookMs !== undefined ? lookMs - call.begunMs : 0;
    // What has not begun is not answered either.
    const waitMs = !hasBegun
      ? nowMs - call.seenMs
      : lookMs === undefined
      ? 0
      : lookMs - call.seenMs;
    // The caller's own limits first: the worker is stopped by what the call leaves behind.
    if (runMs >= timeoutMs && timeoutMs <= hardTimeoutMs) cancellation.expire(call, "timeout");
    else if (runMs >= hardTimeoutMs) this.#stop(call);
    else if (waitMs >= deadlineMs) cancellation.expire(call, "deadline");
  }

  /** Stops the worker that is stuck in `call`; the host itself cannot be stopped. */
  #stop(call: PendingCall): void {
    const { cancellation, lanes, stop } = this.#options;
    const lane = lanes.byId(call.lane);
    const error = new TimeoutError("hard", call.settings.hardTimeoutMs);
    cancellation.lose(call, error);
    if (lane !== undefined) stop(lane, error);
  }

  /** Whether a worker has stopped taking calls: something that is no call keeps its event loop. */
  #isSilent(lane: Lane, nowMs: number): boolean {
    const { tx, rx } = lane.endpoint;
    const { hasUnread } = tx;
    const at = hasUnread ? `${tx.headPosition}/${rx.headPosition}` : "";
    const silentMs = nowMs - this.#progress.sinceMs(lane, at, nowMs);
    const { hardTimeoutMs, stretch } = this.#options;
    if (!hasUnread || silentMs < SILENT_TIMEOUTS * hardTimeoutMs * stretch()) return false;
    // Released records are handed back in strides: there may be none left that it has not begun.
    return unbegunCalls(lane.endpoint.tx, 1).length > 0;
  }
}
