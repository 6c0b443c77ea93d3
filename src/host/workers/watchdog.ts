/**
 * A net under the wake-up protocol, for bugs of runtimes: a slow timer, running only while calls are
 * in flight, that looks for a ring with records whose receiver still says that it is parked.
 *
 * `hits` counts such findings seen on two checks running with no progress in between: a lost wake,
 * which the protocol rules out; tests assert zero. `lateWakes` counts wakes that take a whole interval, and
 * are posted again: the message was posted and is not seen, or a thread was held up just before it posts. Slow,
 * but nobody's fault.
 *
 * The same timer is what keeps the process running while calls are in flight.
 */
import type { Runtime, Timer } from "../../runtimes/runtime.ts";

const SAFETY_INTERVAL_MS = 100;

export interface WatchdogStatistics {
  hits: number;
  lateWakes: number;
}

/** One receiver: a worker, or the host. */
export interface Receiver {
  /** Whether its park is announced, and nobody has set out to wake it since. */
  readonly isAnnounced: boolean;
  /** Whether it waits in its event loop, by its own account: it has looked once more after the announcement. */
  readonly isWaitingInLoop: boolean;
  /** Whether those who gave it a reason to wake have done all that they do about it. */
  readonly isLeftAlone: boolean;
  /** Whether there is something for it to do: a record to read, room for one that it has to write. */
  readonly hasReason: boolean;
  /** Changes whenever the receiver or its sender makes progress. */
  readonly progress: string;
  /** Wakes it as a sender would. */
  wake(): void;
  /** Posts a wake message whatever the parked word says. */
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

  /** Calls are in flight and the host is about to wait: keep the process running and watch. */
  hold(): void {
    if (this.#isHolding || this.#isStopped) return;
    this.#isHolding = true;
    if (this.#timer === undefined) {
      this.#timer = this.#runtime.setInterval(() => this.#tick(), SAFETY_INTERVAL_MS);
    } else this.#timer.ref();
  }

  /** No calls are in flight: let the process end if nothing else keeps it. */
  release(): void {
    if (!this.#isHolding) return;
    this.#isHolding = false;
    this.#timer?.unref();
  }

  /** For good: the pool is closed, and nothing of it may keep the process running. */
  stop(): void {
    this.#isStopped = true;
    this.#isHolding = false;
    this.#clear();
  }

  /** One check, as the timer makes it. */
  check(): void {
    const suspects = new Map<unknown, string>();
    for (const [key, receiver] of this.#receivers()) {
      const { isAnnounced, isWaitingInLoop, isLeftAlone, hasReason, progress } = receiver;
      if (!hasReason || !(isAnnounced || isWaitingInLoop)) continue;
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

  #tick(): void {
    if (this.#isHolding) {
      this.check();
      this.#onTick();
    } else this.#clear(); // idle for an interval: an idle pool has no timer
  }

  #clear(): void {
    this.#timer?.clear();
    this.#timer = undefined;
  }
}
