/** Times of tasks, in milliseconds, as Piscina summarizes them. */
import { createHistogram } from "node:perf_hooks";

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

/** Counts microseconds. */
export class Histogram {
  readonly #counts = createHistogram();

  get count(): number {
    return this.#counts.count;
  }

  record(ms: number): void {
    this.#counts.record(Math.max(1, Math.trunc(ms * US_PER_MS)));
  }

  reset(): void {
    this.#counts.reset();
  }

  get meanMs(): number {
    return this.#counts.mean / US_PER_MS;
  }

  get summary(): HistogramSummary {
    const counts = this.#counts;
    const percentiles = Object.entries(PERCENTILES).map(([name, percent]) => [
      name,
      counts.percentile(percent) / US_PER_MS,
    ]);
    return {
      average: counts.mean / US_PER_MS,
      mean: counts.mean / US_PER_MS,
      stddev: counts.stddev / US_PER_MS,
      min: counts.min / US_PER_MS,
      max: counts.max / US_PER_MS,
      ...Object.fromEntries(percentiles) as Record<string, number>,
    };
  }
}
