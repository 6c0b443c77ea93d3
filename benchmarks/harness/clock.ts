/**
 * One clock for host and workers, and tasks that take their time by it. `clock-check.ts` makes sure that
 * threads agree about it.
 */

/** Milliseconds since 1970, to a quarter of a microsecond: as fine as doubles of this size are. */
export const now = (): number => performance.timeOrigin + performance.now();

export const US_PER_MS = 1000;

/** Computes for `us` microseconds by the clock, and returns the time at which it ended. */
export function spinFor(us: number): number {
  let at = now();
  const end = at + us / US_PER_MS;
  while (at < end) at = now();
  return at;
}

/** A pause in which the event loop is free. */
export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));
