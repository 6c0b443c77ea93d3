/**
 * A short form of the chaos rounds. The long one, with seeds of its own, is `npm run test:chaos`: what it
 * finds is a bug that has to get a test of its own.
 */
import { expect, test } from "vitest";
import { chaosRound } from "../chaos/round.ts";

test.each([1, 3])("chaos round of seed %i", async (seed) => {
  const { calls, faults, outcomes } = await chaosRound(seed);
  expect(faults).toEqual([]);
  // One more was made while the pool closed.
  expect(Object.values(outcomes).reduce((sum, count) => sum + count)).toBe(calls + 1);
}, 60_000);
