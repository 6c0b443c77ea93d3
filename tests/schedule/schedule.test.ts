import { afterAll, describe, expect, test } from "vitest";
import { closeThreads, explore } from "./lockstep.ts";
import { scenarios } from "./scenarios.ts";

/** Preemption bound 2, as far as the number of schedules allows it in a test run. */
const BOUND = 2;
const TIMEOUT_MS = 180_000;

afterAll(closeThreads);

describe("every schedule terminates correctly", () => {
  for (const name of Object.keys(scenarios)) {
    if (name.startsWith("broken: ")) continue;
    test(name, async () => {
      const { schedules, failure } = await explore(name, BOUND);
      expect(failure).toBeUndefined();
      expect(schedules).toBeGreaterThan(100);
      console.log(`${name}: ${schedules} schedules`);
    }, TIMEOUT_MS);
  }
});

describe("the explorer finds a failing schedule if a step is missing", () => {
  for (const name of Object.keys(scenarios)) {
    if (!name.startsWith("broken: ")) continue;
    test(name, async () => {
      const { failure } = await explore(name, BOUND);
      expect(failure).toMatch(/lost/);
    }, TIMEOUT_MS);
  }
});
