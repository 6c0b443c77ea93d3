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
const SLEPT = 0;
const ASLEEP = 1;
const MARK = 2;
const MARK_SLEPT = 3;
const BEFORE = 4;
const BEFORE_SLEPT = 5;
const MEMORY = 6;

/** Minimum time between two marks: the window of `recent`. */
const MARK_MS = 1000;

const viewOf = (lane: SharedArrayBuffer): Float64Array<SharedArrayBuffer> =>
  new Float64Array(lane, GAUGES_BYTE, GAUGES);

/** The worker's side. */
export class GaugeWriter {
  readonly #gauges: Float64Array<SharedArrayBuffer>;
  /** When the sleep that lasts began; 0: the worker is awake, or waits for its own async tasks. */
  #fromMs = 0;

  constructor(lane: SharedArrayBuffer) {
    this.#gauges = viewOf(lane);
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

export interface WorkerGauges {
  /** Share of the time without sleep, from 0 to 1: of the last second or somewhat more, and since `fromMs`. */
  readonly recent: number;
  readonly total: number;
  /** Bytes; undefined: not measured. */
  readonly memoryBytes: number | undefined;
}

/** The host's side. `fromMs`: when the worker was ready. */
export function readGauges(lane: SharedArrayBuffer, fromMs: number, nowMs: number): WorkerGauges {
  const gauges = viewOf(lane);
  const asleepMs = gauges[ASLEEP]!;
  const slept = gauges[SLEPT]! + (asleepMs > 0 ? Math.max(0, nowMs - asleepMs) : 0);
  const since = (time: number, sleptBefore: number): number => {
    const elapsed = nowMs - time;
    return elapsed <= 0 ? 0 : 1 - Math.min(1, Math.max(0, (slept - sleptBefore) / elapsed));
  };
  // Asleep, or awake, for the whole window: the marks are older than that.
  const isSteady = asleepMs !== 0 && nowMs - Math.abs(asleepMs) >= MARK_MS;
  const isOld = nowMs - gauges[MARK]! >= MARK_MS;
  const time = isOld ? gauges[MARK]! : gauges[BEFORE]!;
  const sleptBefore = isOld ? gauges[MARK_SLEPT]! : gauges[BEFORE_SLEPT]!;
  return {
    recent: isSteady
      ? asleepMs > 0 ? 0 : 1
      : time > fromMs
      ? since(time, sleptBefore)
      : since(fromMs, 0),
    total: since(fromMs, 0),
    memoryBytes: gauges[MEMORY]! > 0 ? gauges[MEMORY]! : undefined,
  };
}
