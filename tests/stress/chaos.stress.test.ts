/** A short form of the chaos rounds (`npm run test:chaos` is the long one). */
import { expect, test } from "vitest";
import { chaosRound } from "../chaos/round.ts";
import { seedOfRun } from "../support/random.ts";

const seed = seedOfRun();

test.each([1, 2, 3, seed, seed + 1])("chaos round of seed %i", async (each) => {
  const { calls, faults, outcomes } = await chaosRound(each);
  expect(faults).toEqual([]);
  // One more was made while the pool closed.
  expect(Object.values(outcomes).reduce((sum, count) => sum + count)).toBe(calls + 1);
}, 60_000);
