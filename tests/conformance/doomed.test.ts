/** Workers that come to a bad end while others' calls are with them. */
import { describe, expect, test } from "vitest";
import { createDoomedPool, type DoomedPool } from "../fixtures/doomed-tasks.ts";
import { closedAfterTest, rejection, release, sharedWords } from "../support/conformance.ts";

function doomedPool(options: Parameters<typeof createDoomedPool>[0] = {}): DoomedPool {
  return closedAfterTest(createDoomedPool(options));
}

function busy(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe("after an uncaught exception in a microtask", () => {
  const payloads: Record<string, () => unknown> = {
    "small ones": () => 1,
    "large ones": () => "y".repeat(2 * 2 ** 20),
    "shared ones": () => new SharedArrayBuffer(8),
  };
  test.each(Object.keys(payloads))(
    "calls that have not begun run on the replacement: %s",
    async (kind) => {
      const pool = doomedPool();
      await pool.ready;
      for (let round = 0; round < 5; round++) {
        const words = sharedWords();
        const waiting = pool.call.wait(words); // in flight, so the loop goes on by microtasks
        const doomed = pool.call.throwSoon();
        const made = Array.from({ length: 6 }, payloads[kind]!);
        const innocent = made.map((value) => pool.call.noted(words, value));
        expect(await rejection(doomed)).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
        expect(await rejection(waiting)).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
        expect(await Promise.all(innocent)).toEqual(made);
        expect(words[1]).toBe(made.length);
      }
    },
  );
});

test.each([false, true])(
  "a result that cannot be posted rejects its own call while a response backlog waits (thrown: %s)",
  async (isThrown) => {
    const pool = doomedPool({
      ringBytes: { requests: 65_536, responses: 1024 },
      balancer: "leastLoaded", // keeps none of them on the host
    });
    await pool.ready;
    const [words, later] = [sharedWords(), sharedWords()];
    const waiting = pool.call.wait(later);
    const gone = rejection(pool.call.giveGone(words, isThrown));
    const texts = Array.from({ length: 50 }, () => pool.call.text(200));
    // Nobody takes answers meanwhile, so they fill the ring, and others wait when this one comes.
    busy(50);
    release(words);
    busy(50);
    expect(await gone).toMatchObject({ code: "HEDDLE_DATA_CLONE" });
    release(later);
    expect(await waiting).toBe("waited");
    expect(await Promise.all(texts)).toEqual(new Array(50).fill("z".repeat(200)));
    expect(pool.stats().workersLost).toBe(0);
  },
);

test("a broken worker exits even if its tasks handle uncaught exceptions", async () => {
  const pool = doomedPool();
  await pool.call.handleUncaught();
  const broken = rejection(pool.call.breakAtomics());
  expect(await broken).toMatchObject({ code: "HEDDLE_WORKER_LOST" });
  expect(await pool.call.echo("another")).toBe("another");
});

test('tasks with signals run if Object.prototype has "get" and "value"', async () => {
  const pool = doomedPool();
  await pool.call.pollute(true);
  expect(await pool.call.signalled()).toBe(false);
  await pool.call.pollute(false);
  expect(pool.stats().workersLost).toBe(0);
});
