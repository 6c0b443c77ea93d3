/** What a process of `bench:ab` measures of a program that has just started. */
import type * as Heddle from "../../dist/mod.js";
import type { RoundSamples } from "../harness/child.ts";
import { US_PER_MS } from "../harness/clock.ts";
import { AT_ONCE, ColdCalls, createValues, time } from "../scenarios/cold-calls.ts";
import { FIRST_ANSWER, FIRST_CALLS, SECOND_CALL } from "../scenarios/cold-cases.ts";

/** As plain as in the scenario: no types to strip. */
const href = new URL("../contenders/plain/tasks.mjs", import.meta.url);

const FIRST_COUNT = 2000;

export async function measureCold(build: string): Promise<RoundSamples[]> {
  const values = createValues("object, 200 B");
  const { createPool, importTask } = await import(build) as typeof Heddle;
  const [{ calls, pool }, firstMs] = await time(async () => {
    const echo = importTask<(value: unknown) => unknown>({ href, name: "echo" });
    const pool = createPool({ threads: 1 })({ echo });
    const calls = new ColdCalls(pool.call.echo, values);
    await calls.one();
    return { calls, pool };
  });
  const [, secondMs] = await time(() => calls.one());
  const [, manyMs] = await time(() => calls.many(FIRST_COUNT));
  calls.check();
  await pool.shutdown();
  const figure = (name: string, count: number, ms: number): RoundSamples => ({
    case: `cold, ${name}`,
    size: count,
    calls: count === 1 ? 1 : AT_ONCE,
    unit: "µs",
    samples: [ms * US_PER_MS],
  });
  return [
    figure(FIRST_ANSWER, 1, firstMs),
    figure(SECOND_CALL, 1, secondMs),
    figure(FIRST_CALLS, FIRST_COUNT, manyMs),
  ];
}
