/** Nothing waits behind a long call while another worker is free, and every call runs once. */
import { describe, expect, test } from "vitest";
import { transfer } from "../../src/mod.ts";
import { begun, release, sharedWords, testPool } from "../support/conformance.ts";

describe("no call waits behind a long call while another worker is free", () => {
  test("short calls made after a long call finish before it", async () => {
    const pool = testPool({ threads: 2 });
    await pool.ready;
    for (let round = 0; round < 2; round++) {
      const words = sharedWords();
      const long = pool.call.hold(0, words);
      const small = Array.from({ length: 1000 }, (_, n) => pool.call.echo(n));
      expect(await Promise.all(small)).toEqual(small.map((_, n) => n));
      release(words);
      await long;
    }
  });

  test("calls are stolen from behind a call that runs longer than estimated", async () => {
    // With `maxQueue` no lane gets more than `maxConcurrency` calls.
    const pool = testPool({ threads: 2, maxQueue: 100_000 });
    await pool.ready;
    for (let n = 0; n < 300; n++) await pool.call.hold(0); // quick, by all experience
    const [words, others] = [sharedWords(), sharedWords()];
    const [long, other] = [pool.call.hold(0, words), pool.call.hold(0, others)];
    await Promise.all([begun(words), begun(others)]);
    // Too many for one lane: some wait behind the long call when the other worker is free again.
    const calls = Array.from({ length: 3000 }, () => pool.call.hold(0));
    const { moved } = pool.stats();
    release(others);
    expect(new Set(await Promise.all(calls))).toEqual(new Set([await other]));
    expect(pool.stats().moved).toBeGreaterThan(moved);
    release(words);
    expect(await long).not.toBe(await other);
  });

  test.each([64 * 1024, 1024 * 1024, 3 * 1024 * 1024])(
    "calls with %d bytes, copied or moved, run beside a call that takes longer than estimated",
    async (bytes) => {
      const data = [
        () => new Uint8Array(bytes),
        () => transfer(new Uint8Array(bytes)),
        () => ({ text: "x".repeat(bytes) }), // memory of its own carries it
      ];
      for (const balancer of ["adaptive", "firstIdle"] as const) {
        const pool = testPool({ threads: 2, balancer });
        await pool.ready;
        for (let n = 0; n < 100; n++) await pool.call.meet(sharedWords(), 1, data[n % 3]!()); // quick
        for (let round = 0; round < 6; round++) {
          const words = sharedWords();
          const calls = [0, 1].map(() => pool.call.meet(words, 2, data[round % 3]!()));
          expect(new Set(await Promise.all(calls)).size).toBe(2);
        }
      }
    },
  );

  test("long calls are spread over the workers", async () => {
    const pool = testPool({ threads: 3 });
    await pool.ready;
    for (let round = 0; round < 4; round++) {
      const words = sharedWords();
      const workers = await Promise.all(Array.from({ length: 3 }, () => pool.call.meet(words, 3)));
      expect(new Set(workers).size).toBe(3);
    }
  });
});

describe("every call runs once", () => {
  test("while calls move between workers", async () => {
    const pool = testPool({ threads: 3, ringBytes: 16384 });
    await pool.ready;
    const counters = new Int32Array(new SharedArrayBuffer(4 * 6000));
    for (let round = 0; round < 6; round++) {
      const calls = Array.from({ length: 1000 }, (_, n) => {
        const index = 1000 * round + n;
        const ms = n % 211 === 0 ? 8 : n % 17 === 0 ? 0.1 : 0;
        return pool.call.mark(
          counters,
          index,
          ms,
          n % 3 === 0 ? { n, text: "x".repeat(n % 90) } : n,
        );
      });
      expect(await Promise.all(calls)).toEqual(calls.map((_, n) => 1000 * round + n));
    }
    expect(counters.every((count) => count === 1)).toBe(true);
  });

  test("with intact numbers, objects and key lists on every worker", async () => {
    const pool = testPool({ threads: 2 });
    await pool.ready;
    for (let round = 0; round < 5; round++) {
      const values = Array.from({ length: 300 }, (_, n) => {
        if (n % 3 === 0) return n / 7;
        return n % 3 === 1 ? { n, [`key${round}`]: `text ${n}` } : [`${n}`, [n]];
      });
      const slow = pool.call.burn(40);
      expect(await Promise.all(values.map((value) => pool.call.echo(value)))).toEqual(values);
      await slow;
    }
  });
});
