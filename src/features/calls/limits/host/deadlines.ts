/**
 * Time limits of calls, by one timer for the whole pool that runs only while a call has a limit.
 *
 * Making or beginning a call reads no clock. The first check that sees a call made or begun starts its limit.
 * Limits never expire early, and at most about two checks late (`CallSettings.tickMs` apart). A check takes all
 * responses first: a response in the ring is in time, however long the host itself was busy. While responses wait
 * in a worker for room in its ring, the host cannot know which calls they answer. Limits of calls begun there are
 * then suspended, for at most a second.
 */
import { Set } from "../../../../builtins.ts";
import { TimeoutError } from "../../../../errors.ts";
import type { Timer } from "../../../../runtimes/runtime.ts";
import type { Cancellation } from "./cancellation.ts";
import type { InFlight, PendingCall } from "../../../../host/calls/in-flight.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";
import type { LaneSet } from "../../../../host/lanes/lane-set.ts";
import { LastProgress } from "../../../../host/lanes/last-progress.ts";
import { unclaimedCalls } from "../../../../host/schedule/revocation.ts";
import { type CallTimes, timesOf } from "./timed-calls.ts";

/** Share of the time between two checks that a check may take. */
const MAX_CHECK_SHARE = 1 / 20;
/**
 * Minimum of the estimated time to check a call, in milliseconds, and maximum factor by which it grows per check:
 * the host may only have lost its core during a slow check.
 */
const MIN_COST_MS = 0.0001;
const MAX_GROWTH = 1.5;
/**
 * A worker with calls to take that has neither taken nor answered one for this many hard timeouts is blocked by
 * something other than a call; a call would have hit its hard timeout.
 */
const SILENT_TIMEOUTS = 2;
/** How long limits are suspended while responses wait for room. */
const BACKLOG_GRACE_MS = 1000;
/** Time between two checks of workers that may have to be stopped. */
const KILL_TICK_MS = 5;

export interface DeadlinesOptions {
  readonly inFlight: InFlight;
  readonly cancellation: Cancellation;
  readonly lanes: LaneSet;
  /** The hard timeout of the pool, in milliseconds. */
  readonly hardTimeoutMs: number;
  readonly now: () => number;
  readonly setTimeout: (callback: () => void, delayMs: number) => Timer;
  /** Takes all responses. */
  readonly takeResponses: () => void;
  /** Hard limits are multiplied by this (>= 1). */
  readonly stretch: () => number;
  /** Stops a worker; its calls are lost for this reason. */
  readonly stop: (lane: Lane, error: Error) => void;
}

export class Deadlines {
  readonly #options: DeadlinesOptions;
  #timer: Timer | undefined;
  #tickMs = Infinity;
  /** When the next check is due. */
  #dueMs = 0;
  /** Whether the last check was so late that the host must have been busy. */
  #wasLate = false;
  #costMs = MIN_COST_MS;
  /** Whether each lane has a backlog, and since when. */
  #backlogs = new LastProgress<boolean>();
  readonly #progress = new LastProgress<string>();

  constructor(options: DeadlinesOptions) {
    this.#options = options;
  }

  /** A call with a limit was made. */
  begin(call: PendingCall): void {
    this.#options.cancellation.timed.watch(call);
    this.watch(call.settings.tickMs);
  }

  /** The same for the timer, or a worker may have to be stopped: check every `tickMs`. */
  watch(tickMs: number = KILL_TICK_MS): void {
    if (tickMs >= this.#tickMs) return;
    // States from before the timer stopped are outdated.
    if (this.#timer === undefined) this.#backlogs = new LastProgress();
    this.#timer?.clear();
    this.#arm(tickMs, tickMs);
  }

  stop(): void {
    this.#timer?.clear();
    this.#timer = undefined;
    this.#tickMs = Infinity;
  }

  onPoolEnd(): void {
    this.stop();
  }

  #arm(tickMs: number, delayMs: number): void {
    this.#tickMs = tickMs;
    this.#dueMs = this.#options.now() + delayMs;
    this.#timer = this.#options.setTimeout(() => this.#checkAll(), delayMs);
    this.#timer.unref();
  }

  #checkAll(): void {
    const { cancellation, now, lanes, takeResponses } = this.#options;
    const checkedMs = now();
    const isLate = checkedMs - this.#dueMs > this.#tickMs;
    // Skip judging after one late check, not after two in a row: limits must expire even if the host is always busy.
    const mayBeDone = isLate && !this.#wasLate;
    this.#wasLate = isLate;
    // Read the backlog first; responses published by then are taken below.
    const backedUp = new Set(lanes.all.filter((lane) => this.#isBackedUp(lane, checkedMs)));
    this.#timer = undefined;
    this.#tickMs = Infinity;
    takeResponses();
    const startMs = now();
    let tickMs = Infinity;
    const calls = cancellation.timed.all();
    for (const times of calls) {
      const { call } = times;
      // Ending one call may run code that ends another.
      if (timesOf(call) !== times) continue;
      const lane = lanes.byId(call.lane);
      const isUnknown = mayBeDone || (lane !== undefined && backedUp.has(lane));
      this.#check(times, startMs, isUnknown ? undefined : checkedMs);
      if (timesOf(call) !== times) continue;
      tickMs = Math.min(tickMs, times.cancelledMs < 0 ? call.settings.tickMs : KILL_TICK_MS);
    }
    for (const lane of lanes.all.slice()) {
      this.#checkLane(lane, mayBeDone || backedUp.has(lane), checkedMs);
      if (lane.load.orphaned.hasLimits) tickMs = Math.min(tickMs, KILL_TICK_MS);
    }
    const costMs = Math.max((now() - startMs) / (calls.length + 1), MIN_COST_MS);
    this.#costMs = Math.min(costMs, MAX_GROWTH * this.#costMs);
    // Calls made meanwhile may have set a shorter tick.
    if (tickMs >= this.#tickMs) return;
    this.stop();
    this.#arm(tickMs, Math.max(tickMs, this.#costMs * (calls.length + 1) / MAX_CHECK_SHARE));
  }

  /** Whether responses wait in the lane's worker, and not for too long. */
  #isBackedUp(lane: Lane, nowMs: number): boolean {
    const { hasBacklog } = lane;
    return this.#backlogs.sinceMs(lane, hasBacklog, nowMs) > nowMs - BACKLOG_GRACE_MS && hasBacklog;
  }

  /** Stops a worker that runs an orphaned call for too long, or that has stopped taking calls. */
  #checkLane(lane: Lane, isUnknown: boolean, nowMs: number): void {
    const { stop, hardTimeoutMs, stretch } = this.#options;
    const isSilent = this.#isSilent(lane, nowMs);
    if (isUnknown) return;
    const late = lane.load.orphaned.findLate(nowMs, stretch());
    if (late !== undefined) stop(lane, new TimeoutError("hard", late.limitMs));
    else if (isSilent) stop(lane, new TimeoutError("silent", SILENT_TIMEOUTS * hardTimeoutMs));
  }

  /**
   * Checks the limits of one call. A begun call is judged as of `checkedMs`, before the responses were taken: later
   * responses may still be unread. Undefined: it is not judged now.
   */
  #check(times: CallTimes, nowMs: number, checkedMs: number | undefined): void {
    const { cancellation, stretch } = this.#options;
    const { call } = times;
    const { runTimeoutMs, timeoutMs } = call.settings;
    const hardTimeoutMs = call.settings.hardTimeoutMs * stretch();
    if (times.firstSeenMs < 0) {
      const madeMs = call.extra?.madeMs ?? -1;
      times.firstSeenMs = madeMs < 0 ? nowMs : madeMs;
    }
    if (times.begunMs < 0 && cancellation.hasBegun(call)) times.begunMs = nowMs;
    const { firstSeenMs, begunMs } = times;
    const hasBegun = begunMs >= 0;
    const runMs = hasBegun && checkedMs !== undefined ? checkedMs - begunMs : 0;
    // A call that has not begun has no response.
    const waitMs = !hasBegun
      ? nowMs - firstSeenMs
      : checkedMs === undefined
      ? 0
      : checkedMs - firstSeenMs;
    // Apply the caller's limits first; if the task runs on, its worker can be stopped later.
    if (checkedMs !== undefined && isCancelledTooLong(times, checkedMs)) {
      this.#stopCancelled(call);
    } else if (runMs >= runTimeoutMs && runTimeoutMs <= hardTimeoutMs) {
      cancellation.expire(call, "run");
    } else if (runMs >= hardTimeoutMs) this.#stop(call);
    else if (waitMs >= timeoutMs) cancellation.expire(call, "call");
  }

  /** Stops the worker of `call`. The host itself cannot be stopped. */
  #stop(call: PendingCall): void {
    const { inFlight, lanes, stop } = this.#options;
    const lane = lanes.byId(call.lane);
    const error = new TimeoutError("hard", call.settings.hardTimeoutMs);
    inFlight.rejectLost(call, error);
    if (lane !== undefined) stop(lane, error);
  }

  /** The same for a call whose stream was cancelled: its reader hears that the task has ended. */
  #stopCancelled(call: PendingCall): void {
    const { cancellation, lanes, stop } = this.#options;
    const lane = lanes.byId(call.lane);
    cancellation.endStopped(call);
    if (lane !== undefined) stop(lane, new TimeoutError("hard", undefined));
  }

  /** Whether a worker has stopped taking calls because something else blocks its event loop. */
  #isSilent(lane: Lane, nowMs: number): boolean {
    const { tx, rx } = lane.endpoint;
    const { hasUnread } = tx;
    const at = hasUnread ? `${tx.headPosition}/${rx.headPosition}` : "";
    const silentMs = nowMs - this.#progress.sinceMs(lane, at, nowMs);
    const { hardTimeoutMs, stretch } = this.#options;
    if (!hasUnread || silentMs < SILENT_TIMEOUTS * hardTimeoutMs * stretch()) return false;
    // The head lags, so every record may already have been begun.
    return unclaimedCalls(lane.endpoint.tx, 1).length > 0;
  }
}

/** Whether the stream of a call was cancelled, and its task goes on for too long. */
function isCancelledTooLong({ cancelledMs, call }: CallTimes, nowMs: number): boolean {
  return cancelledMs >= 0 && nowMs - cancelledMs >= call.settings.killAfterMs;
}
