/**
 * Limits the time in which a worker has to become ready. It is counted in parts, and each part at most once: time in which the
 * machine is suspended, or the host does something else for long, is not the worker's.
 */
import { MAX_TIMER_MS, type Runtime, type Timer } from "../../runtimes/runtime.ts";

/** Extra time, in which a host that was busy can receive the ready message, which may be queued. */
const GRACE_MS = 100;
const PARTS = 8;

export class StartTimer {
  readonly #setTimeout: Runtime["setTimeout"];
  #timer: Timer | undefined;

  /** Calls `onLate` after `timeoutMs`, unless it is cleared. */
  constructor(
    { setTimeout, now }: Pick<Runtime, "setTimeout" | "now">,
    timeoutMs: number,
    onLate: () => void,
  ) {
    this.#setTimeout = setTimeout;
    if (timeoutMs > MAX_TIMER_MS) return;
    let leftMs = timeoutMs;
    const wait = (): void => {
      const sinceMs = now();
      const partMs = Math.min(timeoutMs / PARTS, leftMs);
      this.#set(partMs, () => {
        // Less, if a page was frozen meanwhile, which its clock does not count.
        leftMs -= Math.min(now() - sinceMs, partMs);
        if (leftMs > 1) wait();
        else this.#set(GRACE_MS, onLate);
      });
    };
    wait();
  }

  #set(delayMs: number, callback: () => void): void {
    this.#timer = this.#setTimeout(callback, delayMs);
    this.#timer.unref(); // a starting worker keeps the process running by itself
  }

  clear(): void {
    this.#timer?.clear();
  }
}
