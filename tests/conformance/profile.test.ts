/** CPU profiles of workers. */
import { expect, test } from "vitest";
import {
  type CpuProfile,
  createPool,
  InvalidArgumentError,
  PoolClosedError,
  ProfileUnavailableError,
} from "../../src/mod.ts";
import { createLimitedPool } from "../fixtures/limited.ts";
import {
  closedAfterTest,
  rejection,
  sharedWords,
  testPool,
  until,
} from "../support/conformance.ts";
import { capabilities } from "../support/runtime.ts";

/** The names of functions that were sampled. */
const namesIn = ({ nodes }: CpuProfile): Set<string> =>
  new Set(nodes.map(({ callFrame }) => callFrame.functionName));

/** A profile of a worker that runs tasks meanwhile. On a busy machine it may get no core for all that time: taken again. */
async function profileOf(
  pool: { profile(id: number, options: { durationMs: number }): Promise<CpuProfile> },
  id: number,
  durationMs: number,
  work: () => Promise<unknown>,
  isEnough: (profile: CpuProfile) => boolean,
): Promise<CpuProfile> {
  for (;;) {
    let profile: CpuProfile | undefined;
    const taken = pool.profile(id, { durationMs }).then((taken) => profile = taken);
    await until(() => profile !== undefined, work);
    if (isEnough(await taken)) return await taken;
  }
}

test("names the functions of busy tasks", async () => {
  const pool = testPool({ threads: 2 });
  await pool.ready;
  const burn = () => Promise.all([pool.call.burn(5), pool.call.burn(5)]);
  for (const { id } of pool.stats().workers) {
    const profile = await profileOf(pool, id, 100, burn, (each) => namesIn(each).has("burn"));
    expect(profile.endTime).toBeGreaterThan(profile.startTime);
    expect(profile.samples).not.toHaveLength(0);
    expect(profile.timeDeltas).toHaveLength(profile.samples!.length);
    expect(JSON.parse(JSON.stringify(profile))).toEqual(profile);
  }
});

test("names functions that the engine inlined before", async () => {
  const pool = closedAfterTest(
    createPool({ threads: 1 })<typeof import("../fixtures/profiled-tasks.ts")>(
      new URL("../fixtures/profiled-tasks.ts", import.meta.url),
    ),
  );
  await pool.ready;
  for (let n = 0; n < 20; n++) await pool.call.countPrimes(200_000);
  const sampledIn = ({ nodes, samples }: CpuProfile): string[] => {
    const names = new Map(nodes.map(({ id, callFrame }) => [id, callFrame.functionName]));
    return samples!.map((id) => names.get(id)!).filter((name) => !name.startsWith("("));
  };
  const count = () => pool.call.countPrimes(200_000);
  const profile = await profileOf(pool, 0, 200, count, (each) => sampledIn(each).length > 0);
  const sampled = sampledIn(profile);
  const inTask = sampled.filter((name) => name === "countPrimes" || name === "isPrime");
  expect(inTask.length).toBeGreaterThan(sampled.length / 2);
});

test.runIf(capabilities.permissions)("says why there is none: permissions", async () => {
  const least = capabilities.deniesFolder ? [] : [process.cwd()];
  const pool = testPool({
    threads: 1,
    permission: { net: !capabilities.deniesNet, read: least },
  });
  await pool.ready;
  const error = await rejection(pool.profile(0, { durationMs: 10 }));
  expect(error).toBeInstanceOf(ProfileUnavailableError);
  expect(String(error)).toMatch(/^ProfileUnavailableError: Worker 0 cannot be profiled: .*\w\.$/);
});

test("begins after the synchronous task that the worker runs, and lasts until the last one", async () => {
  const pool = testPool({ threads: 1 });
  await pool.ready;
  const before = pool.call.burn(50);
  const taken = pool.profile(0, { durationMs: 1 });
  const after = [pool.call.burn(50), pool.call.burn(50)];
  expect(namesIn(await taken)).toBeInstanceOf(Set);
  await Promise.all([before, ...after]);
});

test("of an idle worker, and one after another", async () => {
  const pool = testPool({ threads: 1 });
  await pool.ready;
  for (let n = 0; n < 2; n++) {
    const profile = await pool.profile(0, { durationMs: 10 });
    expect(profile.nodes.length).toBeGreaterThan(0);
  }
  const first = pool.profile(0, { durationMs: 20 });
  const second = await rejection(pool.profile(0));
  expect(second).toBeInstanceOf(ProfileUnavailableError);
  expect(second).toMatchObject({
    message: "Worker 0 cannot be profiled: it is being profiled already.",
  });
  await first;
});

test("refuses wrong workers and options", async () => {
  const pool = testPool({ threads: 1 });
  await pool.ready;
  const unknown = await rejection(pool.profile(7));
  expect(unknown).toBeInstanceOf(InvalidArgumentError);
  expect(unknown).toMatchObject({
    message: "profile() takes the id of a worker that has not ended (0), got 7.",
  });
  for (const options of [{ durationMs: 0 }, { durationMs: Infinity }, { ms: 5 }, 5]) {
    expect(await rejection(pool.profile(0, options as object))).toMatchObject({
      code: "HEDDLE_INVALID_ARGUMENT",
    });
  }
  await pool.shutdown();
  expect(await rejection(pool.profile(0))).toBeInstanceOf(PoolClosedError);
});

test("rejects if the worker ends, or the pool is closed", async () => {
  const pool = closedAfterTest(createLimitedPool());
  await pool.ready;
  const words = sharedWords();
  const lost = rejection(pool.profile(0, { durationMs: 60_000 }));
  void rejection(pool.call.exitWhenSet(words));
  Atomics.store(words, 0, 1);
  expect(await lost).toBeInstanceOf(ProfileUnavailableError);
  await until(() => pool.stats().workers.some(({ state }) => state === "idle"));
  const [worker] = pool.stats().workers;
  const closed = rejection(pool.profile(worker!.id, { durationMs: 60_000 }));
  await pool.shutdown();
  expect(await closed).toBeInstanceOf(PoolClosedError);
});
