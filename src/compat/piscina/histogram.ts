/** Times of tasks, in milliseconds, as Piscina summarizes them. */
import {
  bucketOf,
  HISTOGRAM_WORDS,
  MAX_VALUE,
  valueOf,
} from "../../features/watching/observe/log-histogram.ts";

/** Percentiles by their names in a summary. */
const PERCENTILES: Readonly<Record<string, number>> = {
  p0_001: 0.001,
  p0_01: 0.01,
  p0_1: 0.1,
  p1: 1,
  p2_5: 2.5,
  p10: 10,
  p25: 25,
  p50: 50,
  p75: 75,
  p90: 90,
  p97_5: 97.5,
  p99: 99,
  p99_9: 99.9,
  p99_99: 99.99,
  p99_999: 99.999,
};

/** Milliseconds. */
export interface HistogramSummary extends Readonly<Record<string, number>> {
  /** The same as `mean`. */
  readonly average: number;
  /** Arithmetic mean. */
  readonly mean: number;
  /** Standard deviation. */
  readonly stddev: number;
  /** The shortest. */
  readonly min: number;
  /** The longest. */
  readonly max: number;
}

const US_PER_MS = 1000;
/** Minimum of an empty histogram, as `perf_hooks` has it. */
const EMPTY_MIN = 9_223_372_036_854_776_000;

/** Counts microseconds in the buckets of heddle's own histograms, in plain memory: only one thread adds to it. */
export class Histogram {
  count = 0;
  #sum = 0;
  #squares = 0;
  #min = EMPTY_MIN;
  #max = 0;
  readonly #buckets = new Uint32Array(HISTOGRAM_WORDS);

  record(ms: number): void {
    const us = Math.max(1, Math.trunc(ms * US_PER_MS));
    this.count++;
    this.#sum += us;
    this.#squares += us * us;
    if (us < this.#min) this.#min = us;
    if (us > this.#max) this.#max = us;
    this.#buckets[bucketOf(Math.min(us, MAX_VALUE))]!++;
  }

  reset(): void {
    this.count =
      this.#sum =
      this.#squares =
      this.#max =
        0;
    this.#min = EMPTY_MIN;
    this.#buckets.fill(0);
  }

  get meanMs(): number {
    return this.#sum / this.count / US_PER_MS;
  }

  get summary(): HistogramSummary {
    const { count } = this;
    const mean = this.#sum / count;
    const percentiles = Object.entries(PERCENTILES).map(([name, percent]) => [
      name,
      this.#percentile(percent) / US_PER_MS,
    ]);
    return {
      average: mean / US_PER_MS,
      mean: mean / US_PER_MS,
      stddev: Math.sqrt(Math.max(0, this.#squares / count - mean * mean)) / US_PER_MS,
      min: this.#min / US_PER_MS,
      max: this.#max / US_PER_MS,
      ...Object.fromEntries(percentiles) as Record<string, number>,
    };
  }

  #percentile(percent: number): number {
    const wanted = Math.max(1, Math.ceil(this.count * percent / 100));
    let seen = 0;
    for (const [bucket, count] of this.#buckets.entries()) {
      seen += count;
      if (seen < wanted) continue;
      return Math.min(Math.max(valueOf(bucket), this.#min), this.#max);
    }
    return 0;
  }
}
