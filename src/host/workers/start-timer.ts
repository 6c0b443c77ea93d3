/** Limits the time in which a worker has to become ready. */
import { MAX_TIMER_MS, type Runtime, type Timer } from "../../runtimes/runtime.ts";

/** Extra time, in which a host that was busy can receive the ready message, which may be queued. */
const GRACE_MS = 100;

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
    const startMs = now();
    const check = (): void => {
      // A page may have been frozen meanwhile, which its clock does not count.
      const leftMs = timeoutMs - (now() - startMs);
      this.#set(leftMs > GRACE_MS ? leftMs : GRACE_MS, leftMs > GRACE_MS ? check : onLate);
    };
    this.#set(timeoutMs, check);
  }

  #set(delayMs: number, callback: () => void): void {
    this.#timer = this.#setTimeout(callback, delayMs);
    this.#timer.unref(); // a starting worker keeps the process running by itself
  }

  clear(): void {
    this.#timer?.clear();
  }
}
