/**
 * How a worker parks and is woken: one shared word per worker, with three states.
 *
 *   0 RUNNING         a waker does nothing: the worker checks its rings before it parks
 *   1 BLOCKED         inside `Atomics.wait` on this word
 *   2 IN_EVENT_LOOP   returned to its event loop; a posted message wakes it
 *
 * Edges and who may take them:
 *   0 → 1, 0 → 2   the worker, by a store (only the worker leaves 0)
 *   1 → 0, 2 → 0   the worker or any waker, by compare-exchange; the winner of a waker's exchange
 *                  owes exactly one notify (from 1) or one message (from 2). The worker leaves the
 *                  awake count (awake-count.ts) before it parks; the winner, worker or waker, adds
 *                  it again
 *
 * No wake is lost. Worker: store parked, then re-check its rings, then wait. Waker: publish (store
 * the tail, the head or the closing flag), then load parked. All four are seq-cst, so in the total
 * order either the worker's re-check comes after the publish and sees it, or the waker's load comes
 * after the store and sees the worker parked. In the second case the waker exchanges the word to 0
 * *before* it notifies; the worker blocks on that same word only while it is still 1, so a wake
 * between the re-check and the wait makes the wait return at once. Store-then-load needs seq-cst:
 * release/acquire would let both sides read the old value.
 *
 * Nothing else ever waits on this word, above all no `Atomics.waitAsync`: with one outstanding,
 * `notify(1)` wakes the async waiter and the blocked thread sleeps on (measured on all runtimes).
 */
import { ProtocolError } from "../errors.ts";
import { countAwake, type OneWord } from "./awake-count.ts";

export const RUNNING = 0;
export const BLOCKED = 1;
export const IN_EVENT_LOOP = 2;

/** The worker's side. */
export class Parker {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #index: number;
  readonly #counts: readonly OneWord[];

  /** `counts`: words that count the worker while it is awake. It is awake from now on. */
  constructor(
    words: Int32Array<SharedArrayBuffer>,
    index: number,
    counts: readonly OneWord[] = [],
  ) {
    this.#words = words;
    this.#index = index;
    this.#counts = counts;
    countAwake(counts, 1);
  }

  /** Announces that the worker is about to wait. Re-check the rings after this, then wait. */
  announce(state: typeof BLOCKED | typeof IN_EVENT_LOOP): void {
    countAwake(this.#counts, -1);
    // SYNC(worker-parked): pairs with Waker.wake. Needs seq-cst (see above).
    Atomics.store(this.#words, this.#index, state);
  }

  /**
   * Withdraws the announcement. False: a waker was faster, so a notify (without effect: there is no waiter)
   * or a message (a spurious turn) is on its way.
   */
  cancel(state: typeof BLOCKED | typeof IN_EVENT_LOOP): boolean {
    if (Atomics.compareExchange(this.#words, this.#index, state, RUNNING) !== state) return false;
    countAwake(this.#counts, 1);
    return true;
  }

  /** Blocks after `announce(BLOCKED)` and a re-check. True: woken; false: `timeoutMs` passed. */
  block(timeoutMs: number): boolean {
    Atomics.wait(this.#words, this.#index, BLOCKED, timeoutMs);
    return !this.cancel(BLOCKED);
  }
}

/** The waker's side: a thread that has published something for the worker. */
export class Waker {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #index: number;
  readonly #post: () => void;
  readonly #counts: readonly OneWord[];

  /**
   * `post` sends the worker one message that makes its event loop run the worker loop. `counts`: the same
   * words as in its `Parker`.
   */
  constructor(
    words: Int32Array<SharedArrayBuffer>,
    index: number,
    post: () => void,
    counts: readonly OneWord[] = [],
  ) {
    this.#words = words;
    this.#index = index;
    this.#post = post;
    this.#counts = counts;
  }

  /** Call after publishing. True: the worker was in its event loop. Costs one load of a rarely shared line if it runs. */
  wake(): boolean {
    // SYNC(worker-parked): pairs with Parker.announce. Needs seq-cst (see above).
    let state = Atomics.load(this.#words, this.#index);
    while (state !== RUNNING) {
      if (state !== BLOCKED && state !== IN_EVENT_LOOP) {
        throw new ProtocolError(`Parked word holds ${state}, not 0, 1 or 2.`);
      }
      const seen = Atomics.compareExchange(this.#words, this.#index, state, RUNNING);
      if (seen === state) {
        countAwake(this.#counts, 1); // before the worker can run
        if (state === BLOCKED) Atomics.notify(this.#words, this.#index, 1);
        else this.#post();
        return state === IN_EVENT_LOOP;
      }
      state = seen;
    }
    return false;
  }

  /** Current state, for the safety re-check. */
  get state(): number {
    return Atomics.load(this.#words, this.#index);
  }

  /** Posts again for a worker whose wake message seems to be lost. At worst causes a spurious wake. */
  repost(): void {
    this.#post();
  }
}
