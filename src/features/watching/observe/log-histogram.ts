/**
 * Histograms in shared memory with log-linear buckets, as HdrHistogram has them: each power of two is divided into
 * SUB_BUCKETS equal parts, so a percentile is at most half a part, 1/32 or 3.2 %, off. Values below SUB_BUCKETS are exact.
 *
 * Values are whole tenths of a microsecond up to 2^36, almost two hours; longer ones count as that. A histogram is a run of
 * 64-bit words: the buckets, then count, sum and maximum. Workers add to them atomically; a reader may see an addition in
 * part.
 */
const SUB_BITS = 4;
const SUB_BUCKETS: number = 2 ** SUB_BITS;
const MAX_BITS = 36;
const MAX_VALUE: number = 2 ** MAX_BITS - 1;
const BUCKETS: number = SUB_BUCKETS * (MAX_BITS - SUB_BITS + 1);
const COUNT: number = BUCKETS;
const SUM: number = BUCKETS + 1;
const MAX: number = BUCKETS + 2;

/** 64-bit words of one histogram. */
export const HISTOGRAM_WORDS: number = BUCKETS + 3;

/** The bucket of a value from 0 to MAX_VALUE. */
export function bucketOf(value: number): number {
  if (value < SUB_BUCKETS) return value;
  const exponent = Math.floor(Math.log2(value));
  // `log2` may round up to the next power of two.
  const power = 2 ** exponent > value ? exponent - 1 : exponent;
  const part = Math.floor(value / 2 ** (power - SUB_BITS)) - SUB_BUCKETS;
  return SUB_BUCKETS * (power - SUB_BITS + 1) + part;
}

/** The middle of the values of a bucket. */
export function valueOf(bucket: number): number {
  if (bucket < SUB_BUCKETS) return bucket;
  const power = Math.floor(bucket / SUB_BUCKETS) - 1 + SUB_BITS;
  const width = 2 ** (power - SUB_BITS);
  return 2 ** power + (bucket % SUB_BUCKETS) * width + (width - 1) / 2;
}

/** Values in ascending order, each with its count. */
export type Histogram = readonly (readonly [value: number, count: number])[];

export interface Percentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
  /** Values, each with its weight. */
  readonly count: number;
}

export interface HistogramReading extends Percentiles {
  readonly mean: number;
  /** The buckets that have values: the middle of each, and its count. */
  readonly histogram: Histogram;
}

/** Percentiles of the values, of which `max` is the largest. Undefined: there are none. */
export function percentilesOf(histogram: Histogram, max: number): Percentiles | undefined {
  const count = histogram.reduce((sum, [, each]) => sum + each, 0);
  if (count === 0) return undefined;
  const at = (share: number): number => {
    let left = Math.ceil(share * count);
    return Math.min(histogram.find(([, each]) => (left -= each) <= 0)![0], max);
  };
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max, count };
}

export class LogHistogram {
  readonly #words: BigInt64Array<SharedArrayBuffer>;

  /** `byte`: where it starts, a multiple of 8. */
  constructor(buffer: SharedArrayBuffer, byte: number) {
    this.#words = new BigInt64Array(buffer, byte, HISTOGRAM_WORDS);
  }

  /** Adds `value`, which stands for `weight` values. */
  add(value: number, weight: number): void {
    const words = this.#words;
    const whole = Math.min(Math.max(0, Math.round(value)), MAX_VALUE);
    const count = BigInt(weight);
    Atomics.add(words, bucketOf(whole), count);
    Atomics.add(words, COUNT, count);
    Atomics.add(words, SUM, BigInt(whole) * count);
    const max = BigInt(whole);
    for (let seen = Atomics.load(words, MAX); seen < max;) {
      const found = Atomics.compareExchange(words, MAX, seen, max);
      if (found === seen) break;
      seen = found;
    }
  }

  /** In units of `unit` values. Undefined: nothing was added. */
  read(unit: number): HistogramReading | undefined {
    const words = this.#words;
    const histogram: [number, number][] = [];
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      const count = Number(words[bucket]!);
      if (count > 0) histogram.push([valueOf(bucket) / unit, count]);
    }
    const percentiles = percentilesOf(histogram, Number(words[MAX]!) / unit);
    if (percentiles === undefined) return undefined;
    const mean = Number(words[SUM]!) / percentiles.count / unit;
    return { ...percentiles, mean, histogram };
  }
}
