/** Times one function over and over. */
import { measure } from "mitata";

/** How long to measure at most, and how many samples at least. Half as long is spent warming up before. */
export interface Budget {
  readonly seconds: number;
  readonly minSamples: number;
}

/** Measuring stops early when the median is known this well. */
const RELATIVE_ERROR = 0.005;
/** Samples below which nothing is said about how well the median is known: p99 needs some as well. */
const ENOUGH_SAMPLES = 400;
/** Looks at the error in a full measurement; a short one has a single look, as each costs some milliseconds. */
const SLICES = 4;
const SHORT_SECONDS = 0.02;

/** Slow runs get fewer samples than asked for: this much more time than the budget at most, about. */
const MAX_OVER_BUDGET = 4;

/** Nanoseconds of each run. */
export async function takeSamples(
  run: () => unknown,
  { seconds, minSamples }: Budget,
): Promise<readonly number[]> {
  const startedAt = performance.now();
  await run();
  const runSeconds = (performance.now() - startedAt) / 1000;
  const affordable = Math.floor(MAX_OVER_BUDGET * seconds / runSeconds);
  const least = Math.max(1, Math.min(minSamples, affordable));
  // Warm-up apart: engines optimize, rings and pools settle.
  if (runSeconds < seconds) await measure(run, options(seconds / 2, least));
  const all: number[] = [];
  const slices = seconds < SHORT_SECONDS ? 1 : SLICES;
  for (let slice = 0; slice < slices; slice++) {
    const { samples } = await measure(run, options(seconds / slices, Math.ceil(least / slices)));
    all.push(...samples);
    if (isKnownWell(all) || all.length >= least && runSeconds > seconds) break;
  }
  return all;
}

/**
 * Whether the 95 % confidence interval of the median, by order statistics (ranks n/2 ± 0.98 √n), is
 * narrow: half its width is below the relative error.
 */
function isKnownWell(samples: readonly number[]): boolean {
  const count = samples.length;
  if (count < ENOUGH_SAMPLES) return false;
  const sorted = Float64Array.from(samples).sort();
  const reach = 0.98 * Math.sqrt(count);
  const low = sorted[Math.floor(count / 2 - reach)]!;
  const high = sorted[Math.ceil(count / 2 + reach)]!;
  return (high - low) / 2 < RELATIVE_ERROR * sorted[count >> 1]!;
}

function options(seconds: number, minSamples: number): Record<string, number | boolean> {
  return {
    min_cpu_time: seconds * 1e9,
    min_samples: minSamples,
    max_samples: 1e6,
    warmup_samples: 0,
    // One run is one sample: percentiles of averages would hide the tail.
    batch_threshold: 0,
    inner_gc: false,
  };
}
