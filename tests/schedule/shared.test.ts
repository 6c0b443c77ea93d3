import { afterAll, describe, expect, test } from "vitest";
import { seedOfRun } from "../support/random.ts";
import { closeThreads, explore } from "./lockstep.ts";
import { sharedScenarios } from "./shared-scenarios.ts";

/** Preemption bound, as far as the number of schedules allows it in a test run. */
const BOUND = 2;
const BOUNDS: Readonly<Record<string, number>> = {
  "wait set, one thread blocks": 3,
  "wait set, one thread waits in its event loop": 3,
  "wait set, two waits in one event loop": 3,
  "wait set, timed out or woken": 3,
  "wait set, timed out or woken in the event loop": 3,
  "wait set whose waker dies": 1,
  "latch": 3,
  "latch whose holder dies": 1,
  "event, set and reset at once": 3,
  "event, set and reset at once, in the event loop": 3,
  "once": 3,
  "once whose thread dies": 1,
  "barrier whose thread dies": 0,
  "mutex, two threads": 3,
  "mutex, three threads": 1,
  "mutex, one thread in its event loop": 3,
  "mutex, two threads in their event loops": 3,
  "mutex, given up or called": 1,
  "mutex, given up or called in the event loop": 1,
  "mutex whose thread dies": 1,
  "mutex whose thread dies as another is called": 0,
  "mutex whose thread dies, refused and recovered": 1,
  "condition, given up or called": 1,
  "channel for two values": 1,
  "channel, received in the event loop": 1,
  "channel, sent in the event loop": 1,
  "channel, three values at once from the event loop": 1,
  "channel, two senders": 1,
  "channel, two receivers": 1,
  "channel, given up or received": 1,
  "channel whose sender dies": 0,
  "channel whose receiver dies": 0,
  "channel, large values": 1,
  "channel, large values of two senders": 1,
  "channel, large values for two receivers": 1,
  "channel, a large value whose copy fails": 1,
  "map, large values of two threads": 3,
  "map, a large value whose thread dies": 0,
};
/** Random schedules of each scenario, with any number of preemptions; of those in which a thread dies. */
const RANDOM_SCHEDULES = 500;
const RANDOM_DEATHS = 2000;
const TIMEOUT_MS = 180_000;

const names = Object.keys(sharedScenarios);

afterAll(closeThreads);

describe("every schedule terminates correctly", () => {
  for (const name of names.filter((each) => !each.startsWith("broken: "))) {
    test(name, async () => {
      const { schedules, failure } = await explore(name, BOUNDS[name] ?? BOUND);
      expect(failure).toBeUndefined();
      expect(schedules).toBeGreaterThan(40);
      console.log(`${name}: ${schedules} schedules`);
    }, TIMEOUT_MS);
  }
});

describe("so do random schedules", () => {
  const seed = seedOfRun();
  for (const name of names.filter((each) => !each.startsWith("broken: "))) {
    test(name, async () => {
      const maxSchedules = name.includes(" dies") ? RANDOM_DEATHS : RANDOM_SCHEDULES;
      const { failure } = await explore(name, 0, { seed, maxSchedules });
      expect(failure, `HEDDLE_SEED=${seed}`).toBeUndefined();
    }, TIMEOUT_MS);
  }
});

describe("the explorer finds a failing schedule if a step is missing", () => {
  for (const name of names.filter((each) => each.startsWith("broken: "))) {
    test(name, async () => {
      const { failure } = await explore(name, BOUND);
      expect(failure).toMatch(/lost/);
    }, TIMEOUT_MS);
  }
});
