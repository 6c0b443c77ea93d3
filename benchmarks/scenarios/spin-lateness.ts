/** How late a caller learns that a task in a worker has ended. */
import { now, US_PER_MS } from "../harness/clock.ts";
import { TOLERANCE_MS } from "../harness/clock-check.ts";

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
