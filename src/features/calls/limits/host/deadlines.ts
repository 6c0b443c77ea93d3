/**
 * Time limits of calls, by one timer for the whole pool that runs only while a call has a limit.
 *
 * Making or beginning a call reads no clock: the first check that sees a call made or begun starts its limit. Limits never expire
 * early, and at most about two checks late (`CallSettings.tickMs` apart). A check takes all responses first: a response in the ring is in time, however long the
 * host itself was busy. While responses wait in a worker for room in its ring, the host cannot know which calls they
 * answer. Limits of calls begun there are then suspended, for at most a second. Time in which the ring was full and the host busy does not count.
 */
import { Set } from "../../../../builtins.ts";
import type { PoolParts } from "../../../../api/pool/parts.ts";
import { TimeoutError } from "../../../../errors.ts";
import type { CallExtra } from "../../../../host/calls/call-extra.ts";
import type { PendingCall } from "../../../../host/calls/in-flight.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";
import { LastProgress } from "../../../../host/lanes/last-progress.ts";
import { unclaimedCalls } from "../../../../host/schedule/revocation.ts";
import type { Timer } from "../../../../runtimes/runtime.ts";

/** Share of the time between two checks that a check may take. */
const MAX_CHECK_SHARE = 1 / 20;
/** Maximum factor by which that time grows per check: the host may only have lost its core during a slow check. */
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

/** What ends calls: `Cancellation`. */
interface Ender {
  hasBegun(call: PendingCall): boolean;
  endStopped(call: PendingCall): void;
  expire(call: PendingCall, kind: "run" | "call" | "stall"): void;
}

export class Deadlines {
  readonly #host: PoolParts;
  readonly #cancellation: Ender;
  /** Slots of calls that a check has to look at. Those of calls that are over stay until the next one. */
  readonly #calls = new Set<PendingCall>();
  #timer: Timer | undefined;
  #tickMs = Infinity;
  #delayMs = 0;
  /** When the next check is due. */
  #dueMs = 0;
  /** Whether the last check was so late that the host must have been busy. */
  #wasLate = false;
  /** Whether each lane has a backlog, and since when. */
  #backlogs = new LastProgress<boolean>();
  readonly #progress = new LastProgress<string>();

  constructor(host: PoolParts, cancellation: Ender) {
    this.#host = host;
    this.#cancellation = cancellation;
  }

  /** A call with a limit was made, or its worker may have to be stopped. */
  add(call: PendingCall, tickMs: number = KILL_TICK_MS): void {
    this.#calls.add(call);
    this.watch(tickMs);
  }

  /** Checks every `tickMs` from now on. */
  watch(tickMs: number = KILL_TICK_MS): void {
    if (tickMs >= this.#tickMs) return;
    // States from before the timer stopped are outdated.
    if (this.#timer === undefined) this.#backlogs = new LastProgress();
    this.#arm(tickMs, tickMs);
  }

  stop(): void {
    this.#timer?.clear();
    this.#timer = undefined;
    this.#tickMs = Infinity;
    this.#calls.clear();
  }

  #arm(tickMs: number, delayMs: number): void {
    const { runtime } = this.#host.spec;
    this.#timer?.clear();
    this.#tickMs = tickMs;
    this.#delayMs = delayMs;
    this.#dueMs = runtime.now() + delayMs;
    this.#timer = runtime.setTimeout(() => this.#checkAll(), delayMs);
    this.#timer.unref();
  }

  #checkAll(): void {
    const { dispatcher: { lanes }, spec: { runtime } } = this.#host;
    const checkedMs = runtime.now();
    const isLate = checkedMs - this.#dueMs > this.#tickMs;
    // Skip judging after one late check, not after two in a row: limits must expire even if the host is always busy.
    const mayBeDone = isLate && !this.#wasLate;
    this.#wasLate = isLate;
    const lostMs = mayBeDone ? checkedMs - this.#dueMs : 0;
    // Read the backlog first; responses published by then are taken below.
    const backedUp = new Set(
      lanes.all.filter((lane) => this.#isBackedUp(lane, checkedMs, lostMs)),
    );
    this.#timer = undefined;
    this.#tickMs = Infinity;
    this.#host.takeResponses();
    const startMs = runtime.now();
    let tickMs = Infinity;
    for (const call of this.#calls) {
      const { extra } = call;
      if (tickOf(call) === Infinity) {
        this.#calls.delete(call);
        continue;
      }
      const lane = lanes.byId(call.lane);
      const isUnknown = mayBeDone || (lane !== undefined && backedUp.has(lane));
      this.#check(call, extra!, lane, startMs, isUnknown ? undefined : checkedMs);
      tickMs = Math.min(tickMs, tickOf(call));
    }
    for (const lane of lanes.all.slice()) {
      this.#checkLane(lane, mayBeDone || backedUp.has(lane), checkedMs);
      if (lane.load.orphaned.hasLimits) tickMs = Math.min(tickMs, KILL_TICK_MS);
    }
    // Calls made meanwhile may have set a shorter tick.
    if (tickMs >= this.#tickMs) return;
    const maxMs = MAX_GROWTH * Math.max(tickMs, this.#delayMs);
    this.#arm(
      tickMs,
      Math.max(tickMs, Math.min(maxMs, (runtime.now() - startMs) / MAX_CHECK_SHARE)),
    );
  }

  /** Whether responses wait in the lane's worker, and not for too long. `lostMs`: time in which the host took none. */
  #isBackedUp(lane: Lane, nowMs: number, lostMs: number): boolean {
    const { hasBacklog, endpoint } = lane;
    // A worker that fills its ring no more is not held up by the host.
    const sinceMs = this.#backlogs.sinceMs(
      lane,
      hasBacklog,
      nowMs,
      endpoint.rx.hasRecord ? lostMs : 0,
    );
    return sinceMs > nowMs - BACKLOG_GRACE_MS && hasBacklog;
  }

  /** Stops a worker that runs an orphaned call for too long, or that has stopped taking calls. */
  #checkLane(lane: Lane, isUnknown: boolean, nowMs: number): void {
    const isSilent = this.#isSilent(lane, nowMs);
    if (isUnknown) return;
    const late = lane.load.orphaned.findLate(nowMs, this.#stretch);
    if (late !== undefined) this.#stop(lane, new TimeoutError("hard", late.limitMs));
    else if (isSilent) {
      const { hardTimeoutMs } = this.#host.spec.options;
      this.#stop(lane, new TimeoutError("silent", SILENT_TIMEOUTS * hardTimeoutMs));
    }
  }

  /**
   * Checks the limits of one call. A begun call is judged as of `checkedMs`, before the responses were taken: later
   * responses may still be unread. Undefined: it is not judged now.
   */
  #check(
    call: PendingCall,
    extra: CallExtra,
    lane: Lane | undefined,
    nowMs: number,
    checkedMs: number | undefined,
  ): void {
    const { settings } = extra;
    const { runTimeoutMs, stallMs, timeoutMs } = settings;
    const hardTimeoutMs = settings.hardTimeoutMs * this.#stretch;
    if (extra.madeMs < 0) extra.madeMs = nowMs;
    if (extra.begunMs < 0 && this.#cancellation.hasBegun(call)) extra.begunMs = nowMs;
    // A task may pause as long as nobody reads its stream, and while it waits for the host.
    const isUnread = extra.stream?.isOpen === true && !extra.stream.isWaitedFor;
    if (extra.isHeard || extra.requests > 0 || isUnread) {
      extra.isHeard = false;
      extra.heardMs = nowMs;
    }
    const hasBegun = extra.begunMs >= 0;
    // A call that has not begun has no response.
    const atMs = hasBegun ? checkedMs : nowMs;
    if (atMs === undefined) return;
    const runMs = hasBegun ? atMs - extra.begunMs : 0;
    const waitMs = atMs - extra.madeMs;
    // Apply the caller's limits first; if the task runs on, its worker can be stopped later.
    if (extra.cancelledMs >= 0 && atMs - extra.cancelledMs >= settings.killAfterMs) {
      this.#cancellation.endStopped(call);
      this.#stop(lane, new TimeoutError("hard", undefined));
    } else if (runMs >= runTimeoutMs && runTimeoutMs <= hardTimeoutMs) {
      this.#cancellation.expire(call, "run");
    } else if (runMs >= hardTimeoutMs) {
      const error = new TimeoutError("hard", settings.hardTimeoutMs);
      this.#host.dispatcher.inFlight.rejectLost(call, error);
      this.#stop(lane, error);
    } else if (waitMs >= timeoutMs) this.#cancellation.expire(call, "call");
    else if (hasBegun && atMs - Math.max(extra.begunMs, extra.heardMs) >= stallMs) {
      this.#cancellation.expire(call, "stall");
    }
  }

  /** Stops a worker. The host itself cannot be stopped. */
  #stop(lane: Lane | undefined, error: Error): void {
    if (lane !== undefined) this.#host.supervisor.stopping!.stop(lane, error);
  }

  /** Hard limits are multiplied by this (>= 1). */
  get #stretch(): number {
    return this.#host.supervisor.stopping?.stretch ?? 1;
  }

  /** Whether a worker has stopped taking calls because something else blocks its event loop. */
  #isSilent(lane: Lane, nowMs: number): boolean {
    const { tx, rx } = lane.endpoint;
    const { hasUnread } = tx;
    const at = hasUnread ? `${tx.headPosition}/${rx.headPosition}` : "";
    const silentMs = nowMs - this.#progress.sinceMs(lane, at, nowMs);
    const limitMs = SILENT_TIMEOUTS * this.#host.spec.options.hardTimeoutMs * this.#stretch;
    if (!hasUnread || silentMs < limitMs) return false;
    // The head lags, so every record may already have been begun.
    return unclaimedCalls(tx, 1).length > 0;
  }
}

/** Time between two checks of a call. Infinity: it has no limits, or is over. */
function tickOf({ extra }: PendingCall): number {
  if (extra === undefined) return Infinity;
  return extra.cancelledMs < 0 ? extra.settings.tickMs : KILL_TICK_MS;
}
