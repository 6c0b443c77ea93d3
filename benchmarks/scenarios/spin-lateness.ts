/** How late a caller learns that a task in a worker has ended. */
import { now, US_PER_MS } from "../harness/clock.ts";
import { TOLERANCE_MS } from "../harness/clock-check.ts";

/** Tasks before the first that counts: one for every so many that do, so that estimates settle. */
const COUNTED_PER_WARM_UP = 5;

/**
 * Has a task compute for `us` microseconds. Returns the microseconds from its end in the worker to the
 * caller's continuation. Throws if the answer is not the end of such a task.
 */
export async function takeLateness(
  spin: (us: number) => Promise<number>,
  us: number,
): Promise<number> {
  const calledAt = now();
  const endedAt = await spin(us);
  const continuedAt = now();
  if (
    !(endedAt >= calledAt + us / US_PER_MS - TOLERANCE_MS && endedAt <= continuedAt + TOLERANCE_MS)
  ) {
    throw new Error(
      `a task of ${us} µs says that it ended ${Math.round((endedAt - calledAt) * US_PER_MS)} µs ` +
        `after its call, which took ${Math.round((continuedAt - calledAt) * US_PER_MS)} µs`,
    );
  }
  return (continuedAt - endedAt) * US_PER_MS;
}

/** Lateness of `count` tasks, one at a time, in microseconds. A fifth as many go before, uncounted. */
export async function takeLatenessSamples(
  spin: (us: number) => Promise<number>,
  us: number,
  count: number,
): Promise<number[]> {
  for (let n = 0; n < count / COUNTED_PER_WARM_UP; n++) await takeLateness(spin, us);
  const samples: number[] = [];
  for (let n = 0; n < count; n++) samples.push(await takeLateness(spin, us));
  return samples;
}
