/**
 * The waits of a thread in its event loop: any number of conditions, one `Atomics.waitAsync`.
 *
 * `waitAsync` keeps no thread alive, so a timer does while something waits.
 */
import { Promise, Set } from "../../builtins.ts";
import type { Runtime, Timer } from "../../runtimes/runtime.ts";
import { WaitTimeoutError } from "../../shared-errors.ts";
import type { Condition, WaitOptions } from "./condition.ts";
import { IN_LOOP, wordsOf } from "./root.ts";

interface WaitingThread {
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly index: number;
  readonly runtime: Runtime;
}

/** The longest delay of a timer. */
const FOR_EVER_MS = 2 ** 31 - 1;
/** Waits that end at once between two readings of the clock, and how long they may go on without a turn. */
const CALLS_PER_CLOCK = 32;
const MAX_TURN_MS = 4;
/** Interval of checks on runtimes that may lose a wake. */
const LOOK_AGAIN_MS = 500;

export class LoopWaits {
  readonly #thread: WaitingThread;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #waits: number;
  readonly #async: number;
  readonly #checks = new Set<() => void>();
  /** A `waitAsync` is outstanding. */
  #isArmed = false;
  #timer: Timer | undefined;
  #calls = 0;
  #turnMs = 0;
  #soon: Timer | undefined;

  constructor(thread: WaitingThread) {
    this.#thread = thread;
    this.#words = thread.words;
    const { waits, async } = wordsOf(thread.index);
    this.#waits = waits;
    this.#async = async;
  }

  /**
   * Resolves when the condition holds. Rejects with the reason of the signal, the error that `check` throws, or WaitTimeoutError, whose
   * message begins with `name`.
   */
  until(condition: Condition, name: string, options: WaitOptions): Promise<void> {
    const { signal, timeoutMs } = options;
    return new Promise((resolve, reject) => {
      let timer: Timer | undefined;
      /** `how` gets what `leave` says. */
      const settle = (how: (hasHappened: boolean) => void): void => {
        if (!this.#checks.delete(check)) return;
        signal?.removeEventListener("abort", onAbort);
        timer?.clear();
        how(condition.leave?.() === true);
        this.#restIfIdle();
      };
      const giveUp = (error: unknown): void =>
        settle((hasHappened) => hasHappened ? this.afterTurn(resolve) : reject(error));
      const onAbort = (): void => giveUp(signal!.reason);
      const check = (): void => {
        if (!this.#checks.has(check)) return; // the one before it has settled this one
        let isOver: boolean;
        try {
          isOver = condition.check();
        } catch (error) {
          settle(() => reject(error));
          return;
        }
        if (isOver) settle(() => this.afterTurn(resolve));
      };
      this.#checks.add(check);
      this.#begin();
      if (signal?.aborted === true) return onAbort();
      signal?.addEventListener("abort", onAbort, { once: true }); // first: the check may run the user's code
      check();
      if (!this.#checks.has(check)) return;
      if (timeoutMs !== undefined && timeoutMs !== Infinity) {
        timer = this.#thread.runtime.setTimeout(
          () => {
            check(); // the event loop may have been blocked, or the process suspended, for longer than the limit
            giveUp(new WaitTimeoutError(name, timeoutMs));
          },
          Math.min(timeoutMs, FOR_EVER_MS),
        );
      }
      this.#arm();
    });
  }

  /**
   * Calls back now, or in the next turn of the event loop if this one has lasted some milliseconds: a program that gets everything at once would
   * run in microtasks for ever otherwise, and its timers and I/O would wait.
   */
  afterTurn(callback: () => void): void {
    if (this.#mustTurn()) this.#thread.runtime.macrotask(callback);
    else callback();
  }

  /** The same as a promise. */
  turn(): Promise<void> {
    return new Promise((resolve) => this.afterTurn(resolve));
  }

  #mustTurn(): boolean {
    if ((++this.#calls & (CALLS_PER_CLOCK - 1)) !== 0) return false;
    const nowMs = this.#thread.runtime.now();
    if (nowMs < this.#turnMs + MAX_TURN_MS) return false;
    this.#turnMs = nowMs;
    return true;
  }

  /** Checks all conditions now: this thread has changed something. */
  checkAll(): void {
    // Checks that are added meanwhile run too, which does no harm.
    for (const check of this.#checks) check();
  }

  #begin(): void {
    if (this.#timer !== undefined) return;
    const { runtime } = this.#thread;
    const intervalMs = runtime.losesAsyncWakes ? LOOK_AGAIN_MS : FOR_EVER_MS;
    this.#timer = runtime.setInterval(() => this.checkAll(), intervalMs);
    Atomics.or(this.#words, this.#waits, IN_LOOP);
  }

  #restIfIdle(): void {
    if (this.#checks.size > 0 || this.#timer === undefined) return;
    this.#timer.clear();
    this.#timer = undefined;
    Atomics.and(this.#words, this.#waits, ~IN_LOOP);
    // Some event loops would wait for it.
    if (this.#isArmed) Atomics.notify(this.#words, this.#async);
  }

  #arm(): void {
    if (this.#isArmed || this.#checks.size === 0) return;
    // SYNC(shared-wait): `waits`, this load, then the checks; pairs with `Root.wake`. Needs seq-cst.
    const seen = Atomics.load(this.#words, this.#async);
    this.checkAll();
    if (this.#isArmed || this.#checks.size === 0) return; // a check may itself wait for something
    const { async, value } = Atomics.waitAsync(this.#words, this.#async, seen);
    this.#isArmed = true;
    const again = (): void => {
      this.#isArmed = false;
      this.#arm();
    };
    if (async) (value as Promise<unknown>).then(again);
    else this.#thread.runtime.macrotask(again); // it has changed meanwhile
  }

  /** Checks again after a millisecond: a latch was taken. */
  checkSoon(): void {
    if (this.#soon !== undefined) return;
    this.#soon = this.#thread.runtime.setTimeout(() => {
      this.#soon = undefined;
      this.checkAll();
    }, 1);
  }
}
