/**
 * A pool under a seeded mix of calls, payloads, batches and pauses that hit every phase of waiting on
 * both sides. Every answer is checked; the safety re-check must never have been needed.
 */
import { describe, expect, test } from "vitest";
import { createTestPool, type TestPool } from "../fixtures/tasks.ts";
import { createRandom, seedOfRun } from "../support/random.ts";
import { pause, realNow, realSetTimeout } from "../support/runtime.ts";

const seed = seedOfRun();
const DURATION_MS = Number(process.env["HEDDLE_STRESS_MS"] ?? 1500);
/** No single step may take this long. */
const WATCHDOG_MS = 20_000;

type Random = () => number;

function randomCall(pool: TestPool, random: Random, n: number): Promise<void> {
  const { call } = pool;
  const same = async (value: unknown, arrived: Promise<unknown>) =>
    expect(await arrived).toEqual(value);
  const kind = random();
  if (kind < 0.35) return same(n, call.echo(n));
  if (kind < 0.45) return same(undefined, call.nothing());
  if (kind < 0.55) return same(n, call.asyncEcho(n));
  if (kind < 0.62) {
    const text = "x€".repeat(Math.floor(random() * 300));
    return same(text, call.echo(text));
  }
  if (kind < 0.69) {
    const bytes = new Uint8Array(Math.floor(random() * 3000)).fill(n);
    return same(bytes, call.echo(bytes));
  }
  if (kind < 0.74) {
    const record = randomRecord(random, n);
    return same(record, call.echo(record));
  }
  if (kind < 0.78) return same(n, call.sleep(random() * 3, n));
  if (kind < 0.82) return same(5, call.microtasks(5));
  if (kind < 0.9) {
    return call.fail(String(n)).then(
      () => Promise.reject(new Error("should have failed")),
      (error) => expect((error as Error).message).toBe(String(n)),
    );
  }
  if (kind < 0.98) return call.burn(random() * 0.2).then(() => undefined);
  return same(30_000, call.large(30_000).then((bytes) => bytes.length));
}

/** Objects of key lists that are new to some worker now and then, of sizes from a line to a whole ring. */
function randomRecord(random: Random, n: number): unknown {
  const keys = Array.from({ length: 1 + Math.floor(random() * 4) }, () => {
    return `k${Math.floor(random() * 12)}`;
  });
  const record = Object.fromEntries(keys.map((key, index) => [key, index % 2 === 0 ? n : key]));
  if (random() < 0.7) return { n, record, list: [n, record] };
  const most = random() < 0.9 ? 300 : 3000;
  return Array.from({ length: Math.floor(random() ** 4 * most) }, (_, id) => ({ id, ...record }));
}

async function randomPause(random: Random): Promise<void> {
  const kind = random();
  if (kind < 0.4) return;
  if (kind < 0.7) {
    const end = realNow() + random() * 0.12;
    while (realNow() < end);
  } else if (kind < 0.9) await new Promise((resolve) => setImmediate(resolve));
  else await pause(random() * 4);
}

describe(`seed ${seed}`, () => {
  test.each([
    { threads: 1, ringBytes: 1024 },
    { threads: 1, ringBytes: 1 << 20 },
    { threads: 2, ringBytes: 4096 },
    { threads: 4, ringBytes: 65536, maxConcurrency: 2 },
  ])("%j", async (options) => {
    const random = createRandom(seed);
    const pool = createTestPool(options);
    await pool.ready;
    const end = realNow() + DURATION_MS;
    let calls = 0;
    while (realNow() < end || calls <= 50) {
      const batch = random() < 0.5 ? 1 : Math.ceil(random() ** 3 * 400);
      const answers = Array.from({ length: batch }, () => randomCall(pool, random, calls++));
      const watchdog = new Promise<never>((_, reject) => {
        const timer = realSetTimeout(() => {
          reject(new Error(`stuck, seed ${seed}, ${JSON.stringify(pool.stats())}`));
        }, WATCHDOG_MS);
        Promise.allSettled(answers).then(() => clearTimeout(timer));
      });
      await Promise.race([Promise.all(answers), watchdog]);
      await randomPause(random);
    }
    await pool.shutdown();
    expect(pool.stats()).toMatchObject({
      inFlight: 0,
      queued: 0,
      safetyHits: 0,
      lateResponses: 0,
      workersLost: 0,
    });
  }, DURATION_MS + 60_000);
});
