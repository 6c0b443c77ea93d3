/** Times one function over and over. */
import { measure } from "mitata";

/** How long to measure, and how many samples at least. Half as long is spent warming up before. */
export interface Budget {
  readonly seconds: number;
  readonly minSamples: number;
}

/** Nanoseconds of each run. */
export async function takeSamples(
  run: () => unknown,
  { seconds, minSamples }: Budget,
): Promise<readonly number[]> {
  // Warm-up apart: engines optimize, rings and pools settle.
  await measure(run, options(seconds / 2, minSamples));
  const { samples } = await measure(run, options(seconds, minSamples));
  return samples;
}

function options(seconds: number, minSamples: number): Record<string, number | boolean> {
  return {
    min_cpu_time: seconds * 1e9,
    min_samples: minSamples,
    max_samples: 1e6,
    warmup_samples: 2,
    // One run is one sample: percentiles of averages would hide the tail.
    batch_threshold: 0,
    inner_gc: false,
  };
}
