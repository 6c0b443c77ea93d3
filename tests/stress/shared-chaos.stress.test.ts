/**
 * A short form of the chaos of shared data. The long one, with seeds of its own, is `npm run test:chaos-shared`: what it finds
 * is a bug that has to get a test of its own.
 */
import { expect, test } from "vitest";
import { chaosRound } from "../shared-chaos/round.ts";
import { travelRound } from "../shared-chaos/travel.ts";

/** How long workers are killed. */
const MS = 1000;

test.each([2, 6])("objects that workers change and die over, seed %i", async (seed) => {
  // On a busy machine all of them may die before their first change.
  for (let ms = MS;; ms *= 2) {
    const { faults, operations, kills } = await chaosRound(seed, ms);
    expect(faults).toEqual([]);
    expect(kills).toBeGreaterThan(0);
    if (operations > 0) break;
    expect(ms).toBeLessThan(10_000);
  }
}, 120_000);

test.each([1, 3])("ends of channels that travel, seed %i", async (seed) => {
  const { faults, operations } = await travelRound(seed, MS);
  expect(faults).toEqual([]);
  expect(operations).toBeGreaterThan(0);
}, 60_000);
