/**
 * Whether the threads of a pool spin while they wait, by what it brings: more answers in the same time. The host decides for itself
 * and its workers, since a thread gains nothing by spinning while the other one sleeps: alone, neither would find out.
 *
 * From time to time there is a trial: blocks in which the threads spin and blocks in which they do not, in random order, since
 * calls may come in batches that alternate with the blocks. It compares the times per call, with those between the calls, where clients
 * show that get no core because of the spins. `#score`: a moving average of the logarithms of the ratios. docs/internals/waiting-and-spinning.md
 */
import type { OneWord } from "./awake-count.ts";

/** Calls between two clock readings outside trials. The first so many of a pool are waited for without a spin. */
const CALLS_PER_CLOCK = 16;
/** A block is so long that what other processes do differently because of the spins shows in it, or ends with a pause. */
const BLOCK_MS = 2;
/** A pause: longer times between two answers tell nothing. Shorter ones may be a time slice of another thread. */
const PAUSE_MS = 8;
/** A trial ends when its blocks have lasted so long without the pauses, or with the last of so many blocks. */
const TRIAL_MS = 16, MAX_BLOCKS = 32;
/** Trials are at most so many times their duration apart, and a quarter of it while they disagree. */
const MAX_APART = 64;
/** Longest time between two clock readings that brings the next trial closer. */
const MAX_GAP_MS = 1;
/** A spin keeps a second core busy, so it must bring more than this: a tenth. */
const WORTH: number = Math.log(1.1);
/** Calls that take longer than so many spins are too long for them: a spin lasts about as long as a sleep and a wake, which it saves. */
const SPINS_PER_CALL = 5;
/** Calls between two clock readings while they are so long. A pause between bursts of calls makes one reading such. */
const LONG_CALLS_PER_CLOCK = 8;
/** Spinning begins as if trials had told this. */
const FIRST_SCORE = 0.15;
const FIRST_TRIAL_MS = 64;

export class SpinPolicy {
  /** Whether the host spins now. Workers read the same in the shared word, which the host alone writes. */
  spins = false;
  readonly #word: OneWord;
  readonly #now: () => number;
  readonly #longCallMs: number;
  /** Calls between two clock readings. */
  #stride: number;
  #score = FIRST_SCORE;
  #untilTrialMs = FIRST_TRIAL_MS;
  /** Since the clock was read. */
  #calls = 0;
  #lastMs: number;
  #blockMs = 0;
  /** Blocks left in this trial; 0: there is none. */
  #blocks = 0;
  /** Of this trial: milliseconds and calls without spins, then with them. */
  readonly #sums: [number, number, number, number] = [0, 0, 0, 0];
  #random = 0;

  /** `word`: the shared one. `spinMs`: longest spin; 0: the threads never spin. */
  constructor(word: OneWord, now: () => number, spinMs: number) {
    this.#word = word;
    this.#now = now;
    this.#lastMs = now();
    this.#longCallMs = spinMs * SPINS_PER_CALL;
    this.#stride = spinMs > 0 ? CALLS_PER_CLOCK : Infinity;
  }

  /** So many calls were settled. */
  settled(calls: number): void {
    this.#calls += calls;
    if (this.#calls >= this.#stride) this.#look();
  }

  #look(): void {
    const nowMs = this.#now();
    const tookMs = nowMs - this.#lastMs;
    this.#lastMs = nowMs;
    if (this.#blocks > 0) this.#count(tookMs);
    else if (tookMs > this.#calls * this.#longCallMs) {
      this.#stride = LONG_CALLS_PER_CLOCK;
      this.#set(false);
    } else if ((this.#untilTrialMs -= Math.min(tookMs, MAX_GAP_MS)) > 0) {
      this.#stride = CALLS_PER_CLOCK;
      this.#set(this.#score > WORTH);
    } else {
      this.#blocks = MAX_BLOCKS;
      this.#stride = 1;
      this.#sums.fill(0);
    }
    this.#calls = 0;
  }

  #count(tookMs: number): void {
    const sums = this.#sums;
    const isPause = tookMs >= PAUSE_MS;
    if (!isPause) {
      const way = this.spins ? 2 : 0;
      sums[way] += tookMs;
      sums[way + 1]! += this.#calls;
      this.#blockMs += tookMs;
    }
    if (!isPause && this.#blockMs < BLOCK_MS) return;
    this.#blockMs = 0;
    const [parkedMs, parked, spunMs, spun] = sums;
    if (--this.#blocks > 0 && (parkedMs + spunMs < TRIAL_MS || parked * spun === 0)) {
      // A coin: the highest bit of a linear congruential generator (Numerical Recipes, "quick and dirty").
      this.#random = (Math.imul(this.#random, 1664525) + 1013904223) | 0;
      this.#set(this.#random < 0);
      return;
    }
    this.#blocks = 0;
    this.#stride = CALLS_PER_CLOCK;
    // A way that had no block tells nothing: NaN.
    const gain = Math.log((parkedMs / parked) / (spunMs / spun)) || 0;
    this.#score += (Math.max(-1, Math.min(gain, 1)) - this.#score) / 4;
    this.#untilTrialMs = TRIAL_MS * MAX_APART * Math.max(0.25, Math.abs(this.#score));
    this.#set(this.#score > WORTH);
  }

  #set(spins: boolean): void {
    if (spins === this.spins) return;
    this.spins = spins;
    // A hint: no order is needed.
    Atomics.store(this.#word, 0, spins ? 1 : 0);
  }
}
