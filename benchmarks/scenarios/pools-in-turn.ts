/**
 * Pools of several sizes in one process, one after the other and over again: what is compared shares the
 * process and the moment. In processes of their own, equal pools differ by a third on a shared machine.
 */
import type { RoundSamples } from "../harness/child.ts";
import type { RoundGap } from "../harness/schema.ts";

/** `thread-sweep`: workers of the pools that are compared. */
export const SWEPT_WORKERS = [1, 2, 4, 8] as const;

type Found = RoundSamples | RoundGap;

export interface Turns<Pool> {
  /** Workers of each pool. */
  readonly sizes: readonly number[];
  /** Times that each size has its turn. */
  readonly turns: number;
  readonly start: (workers: number) => Promise<Pool>;
  /** Measures one pool. */
  readonly measure: (pool: Pool, workers: number) => Promise<readonly Found[]>;
  /** What pools of that size are called in the results. */
  readonly name: (workers: number) => string;
}

/** One pool at a time is there, so that none pays for what another does at rest. */
export async function takePoolsInTurn<Pool extends { close(): unknown }>(
  { sizes, turns, start, measure, name }: Turns<Pool>,
): Promise<Found[]> {
  const found = new Map<string, Found>();
  for (let turn = 0; turn < turns; turn++) {
    // There and back, so that no size always follows the same other one.
    for (const workers of turn % 2 === 0 ? sizes : sizes.toReversed()) {
      const pool = await start(workers);
      for (const each of await measure(pool, workers)) {
        const key = `${each.case}\n${each.size}\n${workers}`;
        const known = found.get(key);
        const named = { ...each, contender: name(workers) };
        found.set(key, known === undefined ? named : add(known, named));
      }
      await pool.close();
    }
  }
  return [...found.values()];
}

/** A turn that failed leaves no figure. */
function add(known: Found, more: Found): Found {
  if ("reason" in known) return known;
  if ("reason" in more) return more;
  return { ...known, samples: [...known.samples, ...more.samples] };
}

export const workersOf = (count: number): string => count === 1 ? "1 worker" : `${count} workers`;
