/**
 * Time limits of calls, by one timer for the whole pool that runs only while a call has a limit.
 *
 * No clock is read when a call is made, nor when it begins: each look stamps what it sees for the first
 * time, so limits count from the first look after the fact. They are never kept early, and about two
 * looks late at most (`CallSettings.tickMs` apart). What a worker has answered counts as in time: a look
 * takes the answers first, however long the host itself was busy.
 */
import { TimeoutError } from "../errors.ts";
import type { Timer } from "../runtimes/runtime.ts";
import type { Endings } from "./endings.ts";
import type { InFlight, PendingCall } from "./in-flight.ts";
import type { Lane } from "./lane.ts";

/** A look may take this share of the time until the next. */
const MOST_LOOKING = 1 / 20;
/**
 * A worker with calls to take that has neither taken nor answered one for so many hard timeouts does not run any,
 * and never will: each would have been stopped by its own limit.
 */
const SILENT_TIMEOUTS = 2;
/** Between two looks at workers that may have to be stopped. */
const KILL_TICK_MS = 5;

export interface TimekeeperOptions {
  readonly inFlight: InFlight;
  readonly endings: Endings;
  readonly lanes: () => readonly Lane[];
  /** Of the pool, in milliseconds. */
  readonly hardTimeoutMs: number;
  readonly now: () => number;
  readonly setTimeout: (callback: () => void, delayMs: number) => Timer;
  /** Settles what has been answered. */
  readonly takeAnswers: () => void;
  /** Stops a worker; its calls are lost for this reason. */
  readonly stop: (lane: Lane, error: Error) => void;
}

export class Timekeeper {
  readonly #options: TimekeeperOptions;
  #timer: Timer | undefined;
  #tickMs = Infinity;
  /** How far each lane was, and since when. */
  readonly #progress = new WeakMap<Lane, { readonly at: string; readonly sinceMs: number }>();

  constructor(options: TimekeeperOptions) {
    this.#options = options;
  }

  /** A call with a limit has been made, or a worker may have to be stopped: looks every `tickMs` now. */
  watch(tickMs: number = KILL_TICK_MS): void {
    if (tickMs >= this.#tickMs) return;
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
    this.#timer = this.#options.setTimeout(() => this.#look(), delayMs);
    this.#timer.unref();
  }

  #look(): void {
    const { inFlight, now, lanes, takeAnswers } = this.#options;
    this.#timer = undefined;
    this.#tickMs = Infinity;
    takeAnswers();
    const startMs = now();
    let tickMs = Infinity;
    for (const call of inFlight.timedCalls()) {
      this.#check(call, startMs);
      tickMs = Math.min(tickMs, call.settings.tickMs);
    }
    for (const lane of lanes().slice()) {
      const { killAtMs } = lane.abandoned;
      if (startMs >= killAtMs) this.#stop(lane, undefined);
      else if (this.#isSilent(lane, startMs)) {
        const { hardTimeoutMs, stop } = this.#options;
        stop(lane, new TimeoutError("silent", SILENT_TIMEOUTS * hardTimeoutMs));
      } else if (killAtMs !== Infinity) tickMs = Math.min(tickMs, KILL_TICK_MS);
    }
    // Calls made meanwhile may have set a tick of their own.
    if (tickMs >= this.#tickMs) return;
    this.stop();
    this.#arm(tickMs, Math.max(tickMs, (now() - startMs) / MOST_LOOKING));
  }

  #check(call: PendingCall, nowMs: number): void {
    const { endings } = this.#options;
    const { timeoutMs, deadlineMs, hardTimeoutMs } = call.settings;
    if (call.seenMs < 0) call.seenMs = nowMs;
    if (call.begunMs < 0 && endings.hasBegun(call)) call.begunMs = nowMs;
    const runMs = call.begunMs < 0 ? 0 : nowMs - call.begunMs;
    if (runMs >= hardTimeoutMs) {
      const lane = this.#options.lanes().find(({ id }) => id === call.lane);
      if (lane !== undefined) this.#stop(lane, call);
    } else if (runMs >= timeoutMs) endings.expire(call, "timeout");
    else if (nowMs - call.seenMs >= deadlineMs) endings.expire(call, "deadline");
  }

  /** Whether a worker has stopped taking calls: something that is no call keeps its event loop. */
  #isSilent(lane: Lane, nowMs: number): boolean {
    const { tx, rx } = lane.endpoint;
    const at = `${tx.headPosition}/${rx.headPosition}`;
    const seen = this.#progress.get(lane);
    if (seen?.at !== at || !tx.hasUnread) {
      this.#progress.set(lane, { at: tx.hasUnread ? at : "", sinceMs: nowMs });
      return false;
    }
    return nowMs - seen.sinceMs >= SILENT_TIMEOUTS * this.#options.hardTimeoutMs;
  }

  /** Stops a worker that is stuck in `call`, or in one that was given up. */
  #stop(lane: Lane, call: PendingCall | undefined): void {
    const { inFlight, stop } = this.#options;
    const error = new TimeoutError("hard", call?.settings.hardTimeoutMs);
    if (call !== undefined) inFlight.reject(call, error);
    stop(lane, error);
  }
}
