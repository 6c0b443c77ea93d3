/**
 * Scopes of random make-up while their workers are killed, their calls fail, time out and are aborted, and the pool is closed.
 * Whatever happens, each scope is left, each of its calls settles once, and none of its tasks runs afterwards.
 */
import { expect, test } from "vitest";
import type { PoolScope } from "../../src/mod.ts";
import { createHeartPool, type HeartTasks, ROOM } from "../fixtures/heart-tasks.ts";
import { createRandom, seedOfRun, upTo } from "../support/random.ts";
import { capabilities, pause, realSetTimeout } from "../support/runtime.ts";

const seed = seedOfRun();
const ROUNDS = 4;
const SCOPES = 24;
const WATCHDOG_MS = 20_000;

type Random = () => number;
type Scope = PoolScope<HeartTasks>;

/** The calls of a round, and how often each has settled. */
class Settled {
  readonly counts: number[] = [];
  /** Scopes in which tasks have run. */
  active = 0;

  /** Counts the settlements of `call`. Returns it. */
  watch<Result>(call: Promise<Result>): Promise<Result> {
    const at = this.counts.push(0) - 1;
    const count = (): void => void this.counts[at]!++;
    call.then(count, count);
    return call;
  }
}

function makeCall(
  { call }: Pick<Scope, "call">,
  random: Random,
  words: Int32Array,
  settled: Settled,
) {
  const at = upTo(random, ROOM - 1);
  const kind = random();
  const withOptions = {
    ...(random() < 0.2 && { timeoutMs: 1 + upTo(random, 30) }),
    ...(random() < 0.2 && { retries: 1 }),
    ...(random() < 0.2 && { signal: AbortSignal.timeout(1 + upTo(random, 30)) }),
  };
  if (kind < 0.4) return settled.watch(call.beat.with(withOptions)(words, at, upTo(random, 30)));
  if (kind < 0.6) return settled.watch(call.heed.with(withOptions)(words, at));
  if (kind < 0.75) return settled.watch(call.beat.with(withOptions)(words, at, Infinity));
  if (kind < 0.85) return settled.watch(call.fail(upTo(random, 10)));
  if (kind < 0.87) return settled.watch(call.exit(upTo(random, 30)));
  const stream = call.items(words, at);
  if (random() < 0.7) void stream.next().catch(() => {});
  return settled.watch(stream.returned);
}

/** Makes calls, and perhaps joins, cancels or fails. */
async function useScope(scope: Scope, random: Random, words: Int32Array, settled: Settled) {
  const calls = Array.from(
    { length: 1 + upTo(random, 6) },
    () => makeCall(scope, random, words, settled),
  );
  const kind = random();
  if (kind < 0.3) {
    const join = scope[["all", "any", "race", "settled"][upTo(random, 3)] as "all"];
    const joined = join([
      ({ call }) => makeCall({ call }, random, words, settled),
      ({ call }) => makeCall({ call }, random, words, settled),
    ]);
    await settled.watch(joined);
  } else if (kind < 0.4) {
    void scope.scope(({ call }) => void makeCall({ call }, random, words, settled));
  } else if (kind < 0.5) makeCall(scope.scope(), random, words, settled);
  else if (kind < 0.6) await calls[0];
  await pause(upTo(random, 20));
  if (random() < 0.3) scope.cancel("enough");
  if (random() < 0.2) throw new RangeError("of the function");
}

async function runScope(
  pool: ReturnType<typeof createHeartPool>,
  random: Random,
  settled: Settled,
) {
  const words = new Int32Array(new SharedArrayBuffer(4 * ROOM));
  const options = {
    killAfterMs: upTo(random, 30),
    onError: random() < 0.5 ? "cancel" : "collect",
    timeoutMs: 1 + upTo(random, 200), // many tasks never end by themselves
  } as const;
  if (random() < 0.5) {
    await pool.scope(options, (scope) => useScope(scope, random, words, settled)).catch(() => {});
  } else {
    const scope = pool.scope(options);
    await useScope(scope, random, words, settled).catch(() => {});
    await scope.close().catch(() => {});
  }
  const atLeaving = words.slice();
  if (atLeaving.some((beats) => beats > 0)) settled.active++;
  if (await rests(words, atLeaving)) return true;
  // A thread that was in a synchronous step when it was stopped may finish that step.
  return !capabilities.stopsLoops && await rests(words, words.slice());
}

/** Whether `words` still are as they were, a while later. */
async function rests(words: Int32Array, before: Int32Array): Promise<boolean> {
  await pause(30);
  return [...words].every((beats, at) => beats === before[at]);
}

test("every scope is left, and nothing of it goes on", async () => {
  console.log(`seed ${seed}`);
  const random = createRandom(seed);
  let active = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const settled = new Settled();
    const pool = createHeartPool({ threads: 2 + upTo(random, 1), maxConcurrency: 64 });
    await pool.ready;
    const scopes = Array.from({ length: SCOPES }, async () => {
      await pause(upTo(random, 800));
      return await runScope(pool, random, settled);
    });
    if (round % 2 === 1) realSetTimeout(() => void pool.shutdown(20), 400);
    const all = Promise.all(scopes);
    const stuck = new Promise((resolve) => realSetTimeout(resolve, WATCHDOG_MS, "stuck"));
    expect(await Promise.race([all, stuck])).toEqual(Array<boolean>(SCOPES).fill(true));
    expect(settled.counts.length).toBeGreaterThan(SCOPES);
    active += settled.active;
    expect(settled.counts.filter((count) => count !== 1)).toEqual([]);
    expect(pool.stats()).toMatchObject({ inFlight: 0, safetyHits: 0 });
    await pool.shutdown();
  }
  expect(active).toBeGreaterThan(0);
}, 120_000);
