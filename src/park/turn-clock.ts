/**
 * Fairness: makes sure that a thread which works in microtasks or in a loop turns its event loop at
 * least every millisecond, without reading the clock for every unit of work.
 *
 * The first check of a burst arms one macrotask. When the event loop turns by itself, that macrotask
 * fires and the burst is over; when `isOver` says that the time is up, the caller returns and is
 * called back from that same macrotask, which by then is due. Arming early rather than late matters:
 * on Deno only `setTimeout(0)` lets I/O through (HTTP took 60 ms under `setImmediate`), and a timer
 * armed a millisecond ago fires at once, while a fresh one would idle for a millisecond.
 *
 * Used by the host loop and by the worker loop, which differ in the strides only.
 */
export interface TurnClockOptions {
  readonly now: () => number;
  /** Runs a function in a later macrotask, after I/O and due timers had their chance. */
  readonly macrotask: (callback: () => void) => void;
  readonly maxTurnMs: number;
  /** Units of work between two looks at the clock: grows to this while units are quick. */
  readonly maxStride: number;
  /** …starting from this in each burst. */
  readonly minStride: number;
  /** Called from the macrotask after `yieldTurn`. */
  readonly onTurn: () => void;
}

/** A stride that took longer than this was too long: go back to the smallest. */
const SLOW_STRIDE_MS = 0.1;

export class TurnClock {
  readonly #options: TurnClockOptions;
  readonly #fire: () => void;
  #isArmed = false;
  #isAwaiting = false;
  #startMs = 0;
  #lastCheckMs = 0;
  #stride: number;
  #units = 0;

  constructor(options: TurnClockOptions) {
    this.#options = options;
    this.#stride = options.minStride;
    this.#fire = () => {
      this.#isArmed = false;
      this.#units = 0;
      this.#stride = this.#options.minStride;
      if (!this.#isAwaiting) return;
      this.#isAwaiting = false;
      this.#options.onTurn();
    };
  }

  /** Counts work. True: the turn is over; finish, call `yieldTurn` and return to the event loop. */
  isOver(units: number): boolean {
    this.#units += units;
    return this.#units >= this.#stride && this.check(this.#options.now());
  }

  /** The same with a clock reading at hand. */
  check(nowMs: number): boolean {
    const { maxStride, minStride, maxTurnMs, macrotask } = this.#options;
    this.#units = 0;
    if (!this.#isArmed) {
      this.#isArmed = true;
      this.#startMs = this.#lastCheckMs = nowMs;
      macrotask(this.#fire);
      return false;
    }
    const strideMs = nowMs - this.#lastCheckMs;
    this.#lastCheckMs = nowMs;
    this.#stride = strideMs > SLOW_STRIDE_MS ? minStride : Math.min(this.#stride * 2, maxStride);
    return nowMs - this.#startMs >= maxTurnMs;
  }

  /** Asks to be called back (`onTurn`) from the armed macrotask; arms one if there is none. */
  yieldTurn(): void {
    this.#isAwaiting = true;
    if (!this.#isArmed) {
      this.#isArmed = true;
      this.#options.macrotask(this.#fire);
    }
  }

  /** True between `yieldTurn` and `onTurn`. */
  get isAwaiting(): boolean {
    return this.#isAwaiting;
  }
}
