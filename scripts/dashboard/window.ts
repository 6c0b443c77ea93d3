/** Times of the calls that have ended within the last readings: differences of histograms, which only grow. */
import {
  type Histogram,
  type Percentiles,
  percentilesOf,
} from "../../src/features/watching/observe/log-histogram.ts";

interface Reading {
  readonly seconds: number;
  readonly histogram: Histogram;
}

export class TimeWindow {
  readonly #length: number;
  /** The oldest is the one before the window. */
  #readings: Reading[] = [];

  /** `length`: of the window, in seconds. */
  constructor(length: number) {
    this.#length = length;
  }

  /**
   * Adds a reading. Returns the percentiles of the calls since the reading before the window; undefined: there are none.
   * `histogram`: undefined before the first call that was measured.
   */
  add(seconds: number, histogram: Histogram = []): Percentiles | undefined {
    const from = seconds - this.#length;
    this.#readings.push({ seconds, histogram });
    while (this.#readings.length > 1 && this.#readings[1]!.seconds <= from) this.#readings.shift();
    const since = new Map(this.#readings[0]!.histogram);
    const known = new Map(histogram);
    // The program was started again: its counts begin anew.
    if ([...since].some(([value, count]) => (known.get(value) ?? 0) < count)) {
      this.#readings = [{ seconds, histogram }];
      since.clear();
    }
    const calls = histogram
      .map(([value, count]) => [value, count - (since.get(value) ?? 0)] as const)
      .filter(([, count]) => count > 0);
    return percentilesOf(calls, calls.at(-1)?.[0] ?? 0);
  }
}
