/**
 * What a thread waits for in its event loop: any number of conditions, one `Atomics.waitAsync`.
 *
 * `waitAsync` keeps no thread alive, so a timer does while something waits.
 */
import { Promise, Set } from "../../builtins.ts";
import type { Timer } from "../../runtimes/runtime.ts";
import type { Condition, ThisThread } from "./this-thread.ts";
import { IN_LOOP, wordsOf } from "./root.ts";

export interface LoopWaitOptions {
  /** Undefined: no limit. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The error when `timeoutMs` has passed. */
  readonly onTimeout: () => Error;
}

/** The longest delay of a timer. */
const FOR_EVER_MS = 2 ** 31 - 1;
/** Between looks where the runtime may lose a wake. */
const LOOK_AGAIN_MS = 500;

export class LoopWaits {
  readonly #thread: ThisThread;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #waits: number;
  readonly #async: number;
  readonly #looks = new Set<() => void>();
  /** A `waitAsync` is outstanding. */
  #isArmed = false;
  #timer: Timer | undefined;
  #soon: Timer | undefined;

  constructor(thread: ThisThread) {
    this.#thread = thread;
    this.#words = thread.root.words;
    const { waits, async } = wordsOf(thread.index);
    this.#waits = waits;
    this.#async = async;
  }

  /** Resolves when the condition holds. Rejects with the reason of the signal, with the error of the time limit, or what `look` throws. */
  until(condition: Condition, options: LoopWaitOptions): Promise<void> {
    const { signal, timeoutMs, onTimeout } = options;
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      let timer: Timer | undefined;
      const settle = (how: () => void): void => {
        if (!this.#looks.delete(look)) return;
        signal?.removeEventListener("abort", onAbort);
        timer?.clear();
        condition.leave?.();
        how();
        this.#restIfIdle();
      };
      const onAbort = (): void => settle(() => reject(signal!.reason));
      const look = (): void => {
        let isOver: boolean;
        try {
          isOver = condition.look();
        } catch (error) {
          settle(() => reject(error));
          return;
        }
        if (isOver) settle(resolve);
      };
      this.#looks.add(look);
      this.#begin();
      look();
      if (!this.#looks.has(look)) return;
      signal?.addEventListener("abort", onAbort, { once: true });
      if (timeoutMs !== undefined && timeoutMs !== Infinity) {
        timer = this.#thread.runtime.setTimeout(
          () => settle(() => reject(onTimeout())),
          Math.min(timeoutMs, FOR_EVER_MS),
        );
      }
      this.#arm();
    });
  }

  /** Looks at all conditions now: this thread has changed something. */
  lookAgain(): void {
    for (const look of [...this.#looks]) look();
  }

  #begin(): void {
    if (this.#timer !== undefined) return;
    const { runtime } = this.#thread;
    const intervalMs = runtime.losesAsyncWakes ? LOOK_AGAIN_MS : FOR_EVER_MS;
    this.#timer = runtime.setInterval(() => this.lookAgain(), intervalMs);
    Atomics.or(this.#words, this.#waits, IN_LOOP);
  }

  #restIfIdle(): void {
    if (this.#looks.size > 0 || this.#timer === undefined) return;
    this.#timer.clear();
    this.#timer = undefined;
    Atomics.and(this.#words, this.#waits, ~IN_LOOP);
    // Some event loops would wait for it.
    if (this.#isArmed) Atomics.notify(this.#words, this.#async);
  }

  #arm(): void {
    if (this.#isArmed || this.#looks.size === 0) return;
    // SYNC(shared-wait): `waits`, this load, then the looks; pairs with `Root.wake`. Needs seq-cst.
    const seen = Atomics.load(this.#words, this.#async);
    this.lookAgain();
    if (this.#looks.size === 0) return;
    const { async, value } = Atomics.waitAsync(this.#words, this.#async, seen);
    this.#isArmed = true;
    const again = (): void => {
      this.#isArmed = false;
      this.#arm();
    };
    if (async) (value as Promise<unknown>).then(again);
    else this.#thread.runtime.macrotask(again); // it has changed meanwhile
  }

  /** Looks again in a moment: a latch was taken. */
  lookSoon(): void {
    if (this.#soon !== undefined) return;
    this.#soon = this.#thread.runtime.setTimeout(() => {
      this.#soon = undefined;
      this.lookAgain();
    }, 1);
  }
}
