/**
 * One chaos round: the whole life of a pool of random make-up, under a seeded mix of calls and streams of every kind
 * while its workers exit, crash, loop, exhaust their memory and are recycled, calls are aborted, time out and are made
 * again, and the pool grows, shrinks and is closed with calls in flight.
 *
 * What must hold at the end, whatever happened: every call has settled, with what it may settle with; a call
 * that may not be made again ran at most once, and one that was answered ran; nothing is in flight; the safety
 * re-check was never needed.
 */
import {
  createPool,
  HeddleError,
  type PoolOptions,
  type PoolStatistics,
  transfer,
} from "../../src/mod.ts";
import * as tasks from "../fixtures/chaos-tasks.ts";
import { createRandom, upTo } from "../support/random.ts";
import { capabilities, pause, realSetTimeout } from "../support/runtime.ts";
import { differences } from "../support/same.ts";
import { makeStreamCall } from "./streams.ts";

export interface ChaosReport {
  readonly seed: number;
  readonly calls: number;
  /** Calls by how they settled: "answered", or the code of their error. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly workersLost: number;
  /** Of those, workers that ended for want of memory. */
  readonly exhausted: number;
  /** Workers that others took the place of. */
  readonly recycled: number;
  /** What did not hold. Empty: all did. */
  readonly faults: readonly string[];
}

/** A pool that is closed, or has calls to settle, must get somewhere in this time. */
const WATCHDOG_MS = 20_000;

type Random = () => number;
const oneOf = <T>(random: Random, values: readonly T[]): T =>
  values[upTo(random, values.length - 1)]!;

const RING_BYTES = [1024, 4096, 65_536, 4_194_304] as const;

function randomOptions(random: Random): PoolOptions {
  const threads = 1 + upTo(random, 2);
  const hasLimits = capabilities.resourceLimits && random() < 0.2;
  return {
    moduleUrl: new URL("../fixtures/chaos-tasks.ts", import.meta.url),
    threads,
    ringBytes: { requests: oneOf(random, RING_BYTES), responses: oneOf(random, RING_BYTES) },
    maxConcurrency: oneOf(random, [1, 4, 1024]),
    // Loops end by this and nothing else.
    hardTimeoutMs: hasLimits ? 1000 : 150,
    maxAbandonedThreads: Infinity,
    ...(hasLimits && { resourceLimits: { maxOldGenerationSizeMb: 24 } }),
    ...(random() < 0.3 &&
      { minThreads: upTo(random, threads), maxThreads: threads + 1, idleTimeoutMs: 20 }),
    ...(random() < 0.2 &&
      { maxQueue: 200, queuePolicy: oneOf(random, ["reject", "wait"] as const) }),
    ...(random() < 0.2 && { balancer: "fifo" }),
    // Few: most workers die before they have taken many calls.
    ...(random() < 0.4 && { recycleAfter: 2 + upTo(random, 20) }),
    ...(random() < 0.2 && { maxWorkerBytes: 60 * 2 ** 20 }),
    ...(random() < 0.2 && { spinMs: 0 }),
  };
}

function randomValue(random: Random, n: number): unknown {
  switch (upTo(random, 8)) {
    case 0:
      return n;
    case 1:
      return `${"x€".repeat(upTo(random, 400))}${n}`;
    case 2:
      return { n, list: [1, "two", { three: n }], at: new Date(n) };
    case 3:
      return new Uint8Array(upTo(random, 5000)).fill(n);
    case 4:
      return new Map([[n, new Set([n, "a"])]]);
    case 5:
      return Array.from({ length: upTo(random, 200) }, (_, id) => ({ id, n }));
    case 6:
      return new Float64Array(upTo(random, 40_000)).fill(n);
    case 7:
      return manyParts(random, n);
    default:
      return undefined;
  }
}

/** Up to half a MiB, written part by part. */
function manyParts(random: Random, n: number): unknown[] {
  return Array.from({ length: upTo(random, 60_000) }, (_, index) => index % 2 === 0 ? n : true);
}

/**
 * What differs between an answer and what was sent. Long lists of numbers and flags are compared by a plain loop: looking at
 * every property as `differences` does keeps the host for seconds, in which no limit of a call is kept.
 */
function fault(answer: unknown, value: unknown): string | undefined {
  if (!Array.isArray(value) || typeof value[0] !== "number" || !Array.isArray(answer)) {
    return differences(answer, value)[0];
  }
  if (answer.length !== value.length) return `${answer.length} parts of ${value.length}`;
  const at = value.findIndex((part, index) => part !== answer[index]);
  return at < 0 ? undefined : `part ${at} is ${String(answer[at])}`;
}

/** Codes that a call may end with when workers die, time is up, or the pool is closed. */
const EXPECTED = new Set([
  "HEDDLE_WORKER_LOST",
  "HEDDLE_WORKER_START",
  "HEDDLE_POOL_CLOSED",
  "HEDDLE_TIMEOUT",
  "HEDDLE_QUEUE_FULL",
]);
const ABORTED = "aborted by chaos";
/** Calls of a burst are numbered from here. */
const FIRST_EXTRA = 1_000_000;

export async function chaosRound(seed: number): Promise<ChaosReport> {
  const random = createRandom(seed);
  const faults: string[] = [];
  const outcomes: Record<string, number> = {};
  const most = 120 + upTo(random, 300);
  const counters = new Int32Array(new SharedArrayBuffer(4 * (most + 1)));
  const mayRunAgain = new Set<number>();
  const poolOptions = randomOptions(random);
  const pool = createPool(poolOptions)({ ...tasks });
  let exhausted = 0;
  pool.addEventListener("workerExit", ({ detail: { error } }) => {
    if (error?.reason.includes("memory") === true) exhausted++;
  });
  pool.addEventListener("unhandledRejection", (event) => event.preventDefault());
  const open = new Set<number>();
  const readers = new Set<number>();
  const openSources = new Set<number>();
  const settled = new Map<number, number>();
  const count = (outcome: string): void => void (outcomes[outcome] = (outcomes[outcome] ?? 0) + 1);

  /** Takes note of how a call settles; `check` says what is wrong with an answer. */
  const follow = (
    n: number,
    call: Promise<unknown>,
    check: (value: unknown) => string | undefined,
  ): void => {
    open.add(n);
    const over = (): void => {
      open.delete(n);
      settled.set(n, (settled.get(n) ?? 0) + 1);
    };
    call.then((value) => {
      over();
      count("answered");
      const wrong = check(value);
      if (wrong !== undefined) faults.push(`call ${n}: ${wrong}`);
    }, (error: unknown) => {
      over();
      const code = error instanceof HeddleError
        ? error.code
        : error === ABORTED
        ? ABORTED
        : String(error);
      count(code === `RangeError: ${n}` ? "RangeError" : code);
      if (!EXPECTED.has(code) && code !== ABORTED && code !== `RangeError: ${n}`) {
        faults.push(`call ${n} ended with ${code}`);
      }
    });
  };

  const never = (task: string) => (value: unknown): string =>
    `${task} answered ${String(value)} though it cannot`;
  const isIndex = (n: number) => (value: unknown): string | undefined =>
    value !== n
      ? `answered ${String(value)}`
      : Atomics.load(counters, n) < 1
      ? "answered without having run"
      : undefined;

  const makeCall = (n: number): void => {
    const controller = random() < 0.15 ? new AbortController() : undefined;
    if (controller !== undefined) {
      const abort = (): void => controller.abort(ABORTED);
      if (random() < 0.3) abort();
      else realSetTimeout(abort, random() * 30);
    }
    const isIdempotent = random() < 0.2;
    const options = {
      ...(controller !== undefined && { signal: controller.signal }),
      ...(random() < 0.1 && { runTimeoutMs: 1 + upTo(random, 40) }),
      ...(random() < 0.1 && { timeoutMs: 1 + upTo(random, 60) }),
      ...(random() < 0.1 && { killAfterMs: upTo(random, 20) }),
      ...(random() < 0.2 && { priority: upTo(random, 4) - 2 }),
      ...(isIdempotent && { retries: 3 }),
    };
    if (random() < 0.12) {
      makeStreamCall({ pool, random, follow, faults, readers, openSources }, n, options);
      return;
    }
    const { call } = pool;
    const kind = random();
    if (kind < 0.35) {
      const value = randomValue(random, n);
      follow(n, call.echo.with(options)(value), (answer) => fault(answer, value));
    } else if (kind < 0.6) {
      if (isIdempotent) mayRunAgain.add(n);
      follow(
        n,
        call.mark.with(options)(counters, n, random() < 0.8 ? 0 : random() * 3),
        isIndex(n),
      );
    } else if (kind < 0.8) {
      if (isIdempotent) mayRunAgain.add(n);
      follow(n, call.markLater.with(options)(counters, n, random() * 15), isIndex(n));
    } else if (kind < 0.88) follow(n, call.fail.with(options)(String(n)), never("fail"));
    else if (kind < 0.9) follow(n, call.rejectUnhandled.with(options)(), () => undefined);
    else if (kind < 0.94) {
      const isAsync = random() < 0.5;
      // Without an abort it ends by the hard limit.
      follow(
        n,
        call.untilAborted.with({ ...options, runTimeoutMs: 30 })(isAsync),
        never("untilAborted"),
      );
    } else if (kind < 0.96) follow(n, call.exit.with(options)(n % 4), never("exit"));
    else if (kind < 0.98) follow(n, call.crash.with(options)(), never("crash"));
    else if (kind < 0.985) {
      const stop = poolOptions.resourceLimits === undefined ? call.loop : call.exhaust;
      follow(n, stop.with(options)(), never("loop"));
    } else if (kind < 0.989) {
      follow(n, call.leak.with(options)(1 + upTo(random, 15)), () => undefined);
    } else if (kind < 0.995) {
      const bytes = new Uint8Array(1 + upTo(random, 100_000)).fill(n);
      const copy = bytes.slice();
      follow(n, call.echo.with(options)(transfer(bytes)), (answer) => differences(answer, copy)[0]);
    } else {
      follow(
        n,
        call.echo.with(options)(new Promise((resolve) => realSetTimeout(resolve, 3, n))),
        (answer) => answer === n ? undefined : "another value",
      );
    }
  };

  let extra = FIRST_EXTRA;
  /**
   * More quick calls than are sent ahead as a rule, more large values than a ring has room for, or more bytes than are
   * given away together.
   */
  const makeBurst = (): void => {
    const { echo } = pool.call;
    const kind = random();
    if (kind < 0.25) {
      for (let left = 40; left > 0; left--, extra++) {
        const value = manyParts(random, extra);
        follow(extra, echo(value), (answer) => fault(answer, value));
      }
      return;
    }
    if (kind < 0.6) {
      const end = extra + 1500 + upTo(random, 3000);
      for (; extra < end; extra++) {
        const value = extra;
        follow(value, echo(value), (answer) => answer === value ? undefined : "another value");
      }
      return;
    }
    for (let left = 12; left > 0; left--, extra++) {
      const bytes = new Uint8Array(2 ** 20).fill(left);
      const sum = left;
      follow(extra, echo(transfer(bytes)), (answer) => {
        const got = answer as Uint8Array;
        return got.length === 2 ** 20 && got[0] === sum && got.at(-1) === sum ? undefined : "bytes";
      });
    }
  };

  const burstAt = random() < 0.3 ? upTo(random, most) : Infinity;
  for (let n = 0; n < most;) {
    const end = Math.min(n + 1 + upTo(random, 30), most);
    if (burstAt >= n && burstAt < end) makeBurst();
    for (; n < end; n++) makeCall(n);
    if (random() < 0.7) await pause(random() * 12);
  }
  // Half of the time everything has to settle by itself.
  const mustSettle = random() < 0.5;
  if (mustSettle) {
    // A pool of one worker that is stopped twenty times is slow; one that does nothing is stuck.
    let [left, lastMs] = [open.size, performance.now()];
    while (open.size > 0 && performance.now() < lastMs + WATCHDOG_MS) {
      await pause(2);
      if (open.size < left) [left, lastMs] = [open.size, performance.now()];
    }
    for (const n of open) faults.push(`call ${n} has not settled while the pool was open`);
  } else if (random() < 0.5) await pause(random() * 200);
  const closing = pool.shutdown(oneOf(random, [0, 20, 2000, 10_000]));
  follow(most, pool.call.echo(1), never("echo after shutdown"));
  const watchdog = new Promise<"late">((resolve) =>
    realSetTimeout(resolve, WATCHDOG_MS, "late").unref?.()
  );
  if (await Promise.race([closing, watchdog]) === "late") faults.push("the pool does not close");
  await pause(0);
  const stuck = [...open].filter((n) => !readers.has(n));
  for (const n of stuck) faults.push(`call ${n} has not settled`);
  const endMs = performance.now() + WATCHDOG_MS;
  while (open.size > stuck.length && performance.now() < endMs) await pause(2);
  for (const n of open) if (readers.has(n)) faults.push(`call ${n} is not read to its end`);
  for (const [n, times] of settled) {
    if (times !== 1) faults.push(`call ${n} settled ${times} times`);
  }
  for (let n = 0; n < most; n++) {
    const runs = Atomics.load(counters, n);
    if (runs > 1 && !mayRunAgain.has(n)) faults.push(`call ${n} ran ${runs} times`);
  }
  for (const n of openSources) faults.push(`the source of call ${n} is not closed`);
  checkStatistics(pool.stats(), faults);
  const { workersLost, recycled } = pool.stats();
  const calls = most + extra - FIRST_EXTRA;
  return { seed, calls, outcomes, workersLost, exhausted, recycled, faults };
}

function checkStatistics(statistics: PoolStatistics, faults: string[]): void {
  const { inFlight, queued, safetyHits, openStreams } = statistics;
  if (inFlight !== 0) faults.push(`${inFlight} calls are in flight`);
  if (queued !== 0) faults.push(`${queued} calls are queued`);
  if (openStreams !== 0) faults.push(`${openStreams} streams are open`);
  if (safetyHits !== 0) faults.push(`${safetyHits} wakes were lost`);
}
