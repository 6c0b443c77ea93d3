/**
 * The event loop of a lockstep thread: promises are the runtime's own, while timers, callbacks and the end of a `waitAsync` are
 * steps, of which the scheduler chooses the next.
 */
import type { Timer } from "../../src/runtimes/runtime.ts";
import type { Lockstep } from "./lockstep-atomics.ts";
import { DUE, LIMIT, SOON } from "./lockstep-protocol.ts";

/** Timers up to this are retries; longer ones are time limits. */
const MAX_SOON_MS = 1;
/** Longer ones never fire. */
const MAX_LIMIT_MS = 2 ** 30;

interface SetTimer {
  readonly callback: () => void;
  readonly ms: number;
}

const { setImmediate } = globalThis;

export class EventLoop {
  readonly #lockstep: Lockstep;
  readonly #timers = new Set<SetTimer>();
  readonly #due: (() => void)[] = [];

  constructor(lockstep: Lockstep) {
    this.#lockstep = lockstep;
  }

  setTimeout(callback: () => void, ms: number): Timer {
    const timer = { callback, ms };
    if (ms <= MAX_LIMIT_MS) this.#timers.add(timer);
    return { clear: () => void this.#timers.delete(timer), ref: () => {}, unref: () => {} };
  }

  macrotask(callback: () => void): void {
    this.#due.push(callback);
  }

  /** Runs until `promise` has settled and nothing is left to do; then throws what the promise has rejected with. */
  async run(promise: Promise<void>): Promise<void> {
    let settle: (() => void) | undefined;
    promise.then(() => settle = () => {}, (error: unknown) => {
      settle = () => {
        throw error;
      };
    });
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve)); // all microtasks run before
      if (this.#lockstep.isDead) return;
      if (settle !== undefined && !this.#isBusy) return settle();
      this.#runEvent();
    }
  }

  /** Whether something happens soon without another thread. */
  get #isBusy(): boolean {
    return this.#due.length > 0 || [...this.#timers].some(({ ms }) => ms <= MAX_SOON_MS);
  }

  #runEvent(): void {
    const timers = [...this.#timers];
    const soon = timers.filter(({ ms }) => ms <= MAX_SOON_MS);
    const limit = timers.find(({ ms }) => ms > MAX_SOON_MS);
    const events = (this.#due.length > 0 ? DUE : 0) | (soon.length === 0 ? 0 : SOON) |
      (limit === undefined ? 0 : LIMIT);
    const event = this.#lockstep.awaitEvent(events);
    if (event === "limit") this.#fire(limit!);
    else if (event === "due" && this.#due.length > 0) this.#due.shift()!();
    else if (event === "due") { for (const timer of soon) this.#fire(timer); }
  }

  #fire(timer: SetTimer): void {
    this.#timers.delete(timer);
    this.#lockstep.nowMs += timer.ms;
    timer.callback();
  }
}
