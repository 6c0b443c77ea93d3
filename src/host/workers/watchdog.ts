/**
 * A safety net against lost wakes by bugs of runtimes: a slow timer, running only while calls are in flight, that
 * checks for a ring with records whose receiver still says that it is parked.
 *
 * `hits` counts findings on two checks in a row with no progress in between: a lost wake, which the protocol rules
 * out; tests assert zero. `lateWakes` counts wakes that take a whole interval and are posted again: the message was
 * posted but not received yet, or a thread was suspended just before it posts. These are slow but no error of the
 * protocol.
 *
 * The same timer keeps the process running while calls are in flight.
 */
import { Map } from "../../builtins.ts";
import type { Runtime, Timer } from "../../runtimes/runtime.ts";

const SAFETY_INTERVAL_MS = 100;

export interface WatchdogStatistics {
  hits: number;
  lateWakes: number;
}

/** One receiver: a worker, or the host. */
export interface Receiver {
  /** Whether its park is announced and no thread has begun to wake it since. */
  readonly isAnnounced: boolean;
  /** Whether it reports waiting in its event loop: it has checked again after the announcement. */
  readonly isWaitingInLoop: boolean;
  /** Whether all threads that published something for it have finished their wake. */
  readonly isLeftAlone: boolean;
  /** Whether it has work: a record to read, or room for a record that it has to write. */
  readonly hasReason: boolean;
  /** Changes whenever the receiver or its sender makes progress. */
  readonly progress: string;
  /** Wakes it as a sender does. */
  wake(): void;
  /** Posts a wake message regardless of the parked word. */
  repost(): void;
}

export class Watchdog {
  readonly statistics: WatchdogStatistics = { hits: 0, lateWakes: 0 };
  readonly #runtime: Runtime;
  readonly #receivers: () => Iterable<readonly [key: unknown, receiver: Receiver]>;
  readonly #onTick: () => void;
  #timer: Timer | undefined;
  #isHolding = false;
  #isStopped = false;
  #suspects = new Map<unknown, string>();

  constructor(
    runtime: Runtime,
    receivers: () => Iterable<readonly [key: unknown, receiver: Receiver]>,
    onTick: () => void = () => {},
  ) {
    this.#runtime = runtime;
    this.#receivers = receivers;
    this.#onTick = onTick;
  }

  /**
   * Calls are in flight and the host is about to wait: keeps the process running and starts the checks. False: it does so
   * already, or has stopped.
   */
  ref(): boolean {
    if (this.#isHolding || this.#isStopped) return false;
    this.#isHolding = true;
    if (this.#timer === undefined) {
      this.#timer = this.#runtime.setInterval(this.#tick, SAFETY_INTERVAL_MS);
    } else this.#timer.ref();
    return true;
  }

  /** No calls are in flight: the process may end. */
  unref(): void {
    if (!this.#isHolding) return;
    this.#isHolding = false;
    this.#timer?.unref();
  }

  /** Stops for good: the pool is closed, and nothing of it may keep the process running. */
  stop(): void {
    this.#isStopped = true;
    this.#isHolding = false;
    this.#timer?.clear();
    this.#timer = undefined;
  }

  /** One check of all receivers. */
  check(): void {
    const suspects = new Map<unknown, string>();
    for (const [key, receiver] of this.#receivers()) {
      if (!receiver.hasReason) continue;
      const { isAnnounced, isWaitingInLoop, isLeftAlone, progress } = receiver;
      if (!isAnnounced && !isWaitingInLoop) continue;
      const finding = `${isAnnounced} ${isWaitingInLoop} ${progress}`;
      if (this.#suspects.get(key) !== finding) {
        suspects.set(key, finding);
        continue;
      }
      if (isAnnounced && isWaitingInLoop && isLeftAlone) this.statistics.hits++;
      else this.statistics.lateWakes++;
      if (isAnnounced) receiver.wake();
      else receiver.repost();
    }
    this.#suspects = suspects;
  }

  readonly #tick = (): void => {
    if (this.#isHolding) {
      this.check();
      this.#onTick();
    } else { // idle for an interval: an idle pool has no timer
      this.#timer?.clear();
      this.#timer = undefined;
    }
  };
}
