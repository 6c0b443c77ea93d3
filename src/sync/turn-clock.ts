/**
 * Fairness of the host loop and the worker loop: a thread that works in microtasks or in a loop turns its event loop at
 * least every millisecond, without a clock reading per unit of work.
 *
 * A few units of work after a turn of the event loop need no clock. The first check after them arms a macrotask. If the
 * event loop turns by itself, that macrotask ends the burst; if `isOver` returns true, the caller returns and that
 * macrotask calls it back. A caller that is called by a message says so by `turned`: with infrequent calls that is a turn of its
 * own, but Node and Bun may deliver a thousand messages in one turn. So that is believed only after turns that ended by
 * themselves, and for a few messages: without this limit a host that worked between its calls kept timers waiting for 430 ms.
 *
 * One turn is enough if each turn polls the system for I/O. An event loop that polls only once in about 61 wake-ups while
 * immediates are pending needs more (`Runtime.turnsPerYield`): with one `setImmediate` per millisecond of work an HTTP
 * server answered after 62 ms, with 8 after 8.0, 16 after 4.1, 24 after 2.8, 32 after 2.1 (p50), at 1.9 µs each.
 * `setTimeout(0)` also serves I/O, but leaves a millisecond or two idle.
 */
import type { Runtime } from "../runtimes/runtime.ts";

export interface TurnClockOptions extends Pick<Runtime, "now" | "macrotask" | "turnsPerYield"> {
  readonly maxTurnMs: number;
  /**
   * Units of work between two clock readings: doubles up to this while units are fast, and falls back to 1 when
   * they are slow. A change of pace may go unnoticed for this many units.
   */
  readonly maxStride: number;
  /** Called from a macrotask after `yieldTurn`. */
  readonly onTurn: () => void;
}

/** Duration above which a stride was too long. */
const SLOW_STRIDE_MS = 0.1;
/** Maximum messages that are taken for turns of their own before the next macrotask tells. */
const MAX_TRUST = 15;
/** Units of work after a turn of the event loop that need no clock, whatever the pace was before: infrequent calls. */
const UNTIMED_UNITS = 4;

export class TurnClock {
  readonly #options: TurnClockOptions;
  #isArmed = false;
  #turnsToYield = 0;
  #startMs = 0;
  #lastCheckMs = 0;
  #stride = UNTIMED_UNITS;
  /** How many messages are taken for turns after a turn that ended by itself: more with each, none after another turn. */
  #trust = 0;
  /** How many still are. */
  #trusted = 0;
  #units = 0;

  constructor(options: TurnClockOptions) {
    this.#options = options;
  }

  /** Counts work. True: the turn is over; finish, call `yieldTurn` and return to the event loop. */
  isOver(units: number): boolean {
    this.#units += units;
    return this.#units >= this.#stride && this.check(this.#options.now());
  }

  /** A message called the caller. True: the event loop seems to have turned. */
  turned(): boolean {
    if (this.#isArmed || this.#trusted === 0) return false;
    this.#trusted--;
    this.#units = 0;
    if (this.#stride < UNTIMED_UNITS) this.#stride = UNTIMED_UNITS;
    return true;
  }

  /** Same as `isOver`, for a caller that has just read the clock. */
  check(nowMs: number): boolean {
    const { maxStride, maxTurnMs } = this.#options;
    this.#units = 0;
    if (!this.#isArmed) {
      this.#startMs = this.#lastCheckMs = nowMs;
      if (this.#stride <= UNTIMED_UNITS) this.#stride = 1; // their pace is not known
      this.#arm();
      return false;
    }
    const strideMs = nowMs - this.#lastCheckMs;
    this.#lastCheckMs = nowMs;
    this.#stride = strideMs > SLOW_STRIDE_MS ? 1 : Math.min(this.#stride * 2, maxStride);
    return nowMs - this.#startMs >= maxTurnMs;
  }

  /** Requests a call of `onTurn` after the event loop has turned. */
  yieldTurn(): void {
    this.#turnsToYield = this.#options.turnsPerYield;
    if (!this.#isArmed) this.#arm();
  }

  #arm(): void {
    this.#isArmed = true;
    this.#options.macrotask(this.#onTurn);
  }

  readonly #onTurn = (): void => {
    this.#isArmed = false;
    this.#units = 0;
    if (this.#turnsToYield === 0) {
      this.#trust = this.#trusted = Math.min(2 * this.#trust + 1, MAX_TRUST);
      return;
    }
    this.#trust = this.#trusted = 0;
    if (--this.#turnsToYield > 0) this.#arm();
    else this.#options.onTurn();
  };
}
