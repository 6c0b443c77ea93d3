/**
 * What a worker reports about itself: f64 values on the line of WAITS_FOR (layout.ts), behind its two words. The worker
 * writes them, when it wakes and when it parks; the host reads them for statistics. Plain loads and stores: a reading may
 * mix values before and after one sleep.
 *
 *   528  slept     milliseconds that it has slept without calls
 *   536  asleep    time at which it parked without calls; negative: time at which it woke; 0: neither yet
 *   544  mark      a time at least MARK_MS after `before`, and what `slept` was then
 *   560  before    the mark before that one
 *   576  memory    bytes of heap and buffers at the last measurement; 0: none
 *
 * Times are milliseconds of a clock that all threads share (`Runtime.coarseNow`): a sleep may be a millisecond off, their sum
 * is not.
 */
import { WAITS_FOR } from "../lane/layout.ts";

const GAUGES_BYTE: number = WAITS_FOR * 4 + 16;
const GAUGES = 7;
export const SLEPT = 0;
export const ASLEEP = 1;
export const MARK = 2;
export const MARK_SLEPT = 3;
export const BEFORE = 4;
export const BEFORE_SLEPT = 5;
export const MEMORY = 6;

/** Minimum time between two marks: the window of `recent`. */
export const MARK_MS = 1000;

/** The values, in the memory of a lane. */
export const gaugesOf = (lane: SharedArrayBuffer): Float64Array<SharedArrayBuffer> =>
  new Float64Array(lane, GAUGES_BYTE, GAUGES);

/** The worker's side. */
export class GaugeWriter {
  readonly #gauges: Float64Array<SharedArrayBuffer>;
  /** When the sleep that lasts began; 0: the worker is awake, or waits for its own async tasks. */
  #fromMs = 0;

  constructor(lane: SharedArrayBuffer) {
    this.#gauges = gaugesOf(lane);
  }

  /** The worker goes to sleep without calls. */
  sleeps(nowMs: number): void {
    this.#fromMs = this.#gauges[ASLEEP] = nowMs;
  }

  /** It wakes, if it slept. */
  woke(nowMs: number): void {
    if (this.#fromMs === 0) return;
    const gauges = this.#gauges;
    const sleptMs = nowMs - this.#fromMs;
    this.#fromMs = 0;
    if (nowMs - sleptMs - gauges[MARK]! >= MARK_MS) {
      gauges[BEFORE] = gauges[MARK]!;
      gauges[BEFORE_SLEPT] = gauges[MARK_SLEPT]!;
      gauges[MARK_SLEPT] = gauges[SLEPT]!;
      gauges[MARK] = nowMs - sleptMs;
    }
    gauges[SLEPT]! += sleptMs;
    gauges[ASLEEP] = -nowMs;
  }

  /** Its memory was measured. */
  measured(bytes: number): void {
    this.#gauges[MEMORY] = bytes;
  }
}
