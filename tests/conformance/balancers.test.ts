/** The option `balancer`. */
import { describe, expect, test } from "vitest";
import { testPool } from "../support/conformance.ts";

describe("balancers", () => {
  const names = [
    "roundRobin",
    "firstIdle",
    "randomLane",
    "firstIdleOrRandom",
    "leastLoaded",
  ] as const;

  test.each(names)("%s", async (balancer) => {
    const pool = testPool({ threads: 2, balancer });
    await pool.ready;
    const workers = await Promise.all(Array.from({ length: 40 }, () => pool.call.burnOn(1)));
    expect(new Set(workers).size).toBe(2);
    expect(pool.stats().moved).toBe(0);
    // One after the other: only those that take turns or throw dice use both.
    const oneByOne = new Set<number>();
    for (let n = 0; n < 40; n++) oneByOne.add(await pool.call.burnOn(0));
    expect(oneByOne.size).toBe(balancer === "roundRobin" || balancer === "randomLane" ? 2 : 1);
  });

  test("roundRobin uses the workers in turn", async () => {
    const pool = testPool({ threads: 3, balancer: "roundRobin" });
    await pool.ready;
    const workers: number[] = [];
    for (let n = 0; n < 9; n++) workers.push(await pool.call.burnOn(0));
    expect(workers.slice(3)).toEqual(workers.slice(0, 6));
    expect(new Set(workers).size).toBe(3);
  });

  test("a function chooses the worker", async () => {
    const seen: number[] = [];
    let answer: number | undefined = 1;
    const pool = testPool({
      threads: 2,
      balancer: (workers) => {
        seen.push(workers.length);
        for (const { workerId, outstanding, backlogMs: backlogMicroseconds } of workers) {
          expect([workerId, outstanding, backlogMicroseconds].every((n) => n >= 0)).toBe(true);
        }
        return answer;
      },
    });
    await pool.ready;
    const workers = await Promise.all(Array.from({ length: 10 }, () => pool.call.burnOn(0)));
    expect(new Set(workers).size).toBe(1);
    for (const bad of [2, -1, 0.5, "x"]) {
      answer = bad as number;
      await expect(pool.call.echo(1)).rejects.toThrow(
        /balancer must return an integer from 0 to 1/,
      );
    }
    answer = undefined;
    const waiting = pool.call.echo(5);
    expect(pool.stats().queued).toBe(1);
    answer = 0;
    expect(await pool.call.echo(6)).toBe(6);
    expect(await waiting).toBe(5);
    expect(seen.every((count) => count === 2)).toBe(true);
  });

  test("a function is called once per call, also for calls sent by message", async () => {
    let asked = 0;
    const pool = testPool({ threads: 2, balancer: () => asked++ % 2 });
    await pool.ready;
    const values = [1, "text", new SharedArrayBuffer(8), new Uint8Array(100_000), { a: [1] }];
    for (const [n, value] of values.entries()) {
      expect(await pool.call.count(value)).toBe(1);
      expect(asked).toBe(n + 1);
    }
    const workers = await Promise.all(
      Array.from({ length: 4 }, () => pool.call.burnOn(0)),
    );
    expect(workers[0]).not.toBe(workers[1]);
    expect(workers.slice(2)).toEqual(workers.slice(0, 2));
  });

  test("invalid balancers are refused", () => {
    for (const balancer of ["robin", "", 1, null, { strategy: "roundRobin" }, {}]) {
      expect(() => testPool({ balancer: balancer as never })).toThrow(/balancer must be/);
    }
  });
});
