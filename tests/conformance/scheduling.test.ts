/** Which worker runs what, as callers see it: nothing waits behind a long call, everything runs once. */
import { describe, expect, test } from "vitest";
import { testPool } from "../support/conformance.ts";

/** The order in which calls settle. */
function recorder() {
  const order: string[] = [];
  return { order, note: (name: string) => () => void order.push(name) };
}

describe("nothing waits behind a long call while another worker is free", () => {
  test("small calls made after a long one are all answered before it", async () => {
    const pool = testPool({ threads: 2 });
    await pool.ready;
    for (let round = 0; round < 3; round++) {
      const { order, note } = recorder();
      const long = pool.call.burn(200).then(note("long"));
      const small = Array.from({ length: 1000 }, (_, n) => pool.call.echo(n).then(note("small")));
      await Promise.all([long, ...small]);
      expect(order.at(-1)).toBe("long");
    }
  });

  test("also behind one that was expected to be quick", async () => {
    const pool = testPool({ threads: 2 });
    await pool.ready;
    for (let n = 0; n < 300; n++) await pool.call.burn(0); // quick, by all experience
    const { order, note } = recorder();
    const calls = [300, ...Array.from({ length: 200 }, () => 0)].map((ms) =>
      pool.call.burn(ms).then(note(ms === 0 ? "small" : "long"))
    );
    await Promise.all(calls);
    expect(order.at(-1)).toBe("long");
    expect(pool.stats().moved).toBeGreaterThan(0);
  });

  test("long calls are spread", async () => {
    const pool = testPool({ threads: 3 });
    await pool.ready;
    for (let round = 0; round < 4; round++) {
      const workers = await Promise.all(
        Array.from({ length: 3 }, () => pool.call.burnOn(60)),
      );
      expect(new Set(workers).size).toBe(3);
    }
  });
});

describe("async tasks", () => {
  test("all start, however long the first of them kept its worker", async () => {
    const pool = testPool({ threads: 1 });
    await pool.ready;
    await pool.call.burnThenSleep(30, 0);
    const calls = Array.from({ length: 100 }, () => pool.call.barrier(100));
    await Promise.all(calls); // none is answered before all have begun
  });

  test("calls of a task that nobody has measured are not kept longer than it takes to begin one", async () => {
    const pool = testPool({ threads: 1 });
    await Promise.all(Array.from({ length: 100 }, () => pool.call.barrier(100)));
  });
});

describe("every call runs once", () => {
  test("while calls are moved between workers all the time", async () => {
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

  test("and numbers, objects and shapes arrive whole wherever they run", async () => {
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

test("spinMicroseconds: 0 works, and bad values are refused", async () => {
  const pool = testPool({ threads: 1, spinMicroseconds: 0 });
  for (let n = 0; n < 50; n++) expect(await pool.call.echo(n)).toBe(n);
  for (const bad of [-1, 1.5, 1001, NaN, "20"]) {
    expect(() => testPool({ spinMicroseconds: bad as number })).toThrow(/spinMicroseconds must be/);
  }
});
