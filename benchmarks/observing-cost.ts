/**
 * What watching a pool costs: batches of 100 calls with one number, in pools with and without `metrics`, subscribers of the
 * tracing channel and a context, alternately in one process. Prints the median time of a call and its ratio to that of a
 * pool without any: `npm run bench:observing -- --rounds 200`, on the runtime that runs it.
 */
import { tracingChannel } from "node:diagnostics_channel";
import process from "node:process";
import { createPool, type PoolOptions } from "../dist/mod.js";

const BATCH = 100;
const BATCHES = 50;
const given = process.argv.indexOf("--rounds");
const rounds = given < 0 ? 60 : Number(process.argv[given + 1]);

const tasks = new URL("../tests/fixtures/context-tasks.ts", import.meta.url);
const run = new URL("../tests/fixtures/context-run.ts", import.meta.url);
const channel = tracingChannel("heddle:call");
const subscribers = { asyncEnd: () => {} } as unknown as Parameters<typeof channel.subscribe>[0];

const variants: Readonly<Record<string, PoolOptions>> = {
  "nothing": {},
  "metrics": { metrics: true },
  "tracing": {},
  "context": { context: { capture: () => "id", run } },
};

interface Tasks {
  withArgs(value: number): unknown;
}

const pools = Object.entries(variants).map(([name, options]) => ({
  name,
  pool: createPool({ threads: 1, ...options })<Tasks>(tasks),
  times: [] as number[],
}));
for (const { pool } of pools) await pool.ready;

for (let round = 0; round < rounds; round++) {
  for (const { name, pool, times } of pools) {
    if (name === "tracing") channel.subscribe(subscribers);
    const start = performance.now();
    for (let batch = 0; batch < BATCHES; batch++) {
      await Promise.all(Array.from({ length: BATCH }, (_, n) => pool.call.withArgs(n)));
    }
    times.push((performance.now() - start) * 1e6 / (BATCH * BATCHES));
    if (name === "tracing") channel.unsubscribe(subscribers);
  }
}

const medianOf = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[times.length >> 1]!;
const base = medianOf(pools[0]!.times);
for (const { name, pool, times } of pools) {
  const median = medianOf(times);
  console.log(
    `${name.padEnd(8)} ${median.toFixed(0).padStart(6)} ns/call  ×${(median / base).toFixed(3)}`,
  );
  await pool.shutdown();
}
