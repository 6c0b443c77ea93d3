/**
 * One round of channels whose ends travel: in arguments, results, streams, functions of the host, callbacks, nested calls and
 * nested pools. The host alone receives items, so each that was sent comes once and in order, whoever died meanwhile. When all
 * ends are closed, collected or gone with their threads, both channels end.
 */
import { callback, createPool, type Pool } from "../../src/mod.ts";
import { channel, type Sender, SharedVector } from "../../src/mod-shared.ts";
import { HANDLE } from "../../src/realm/handles.ts";
import { END_WORDS, ENDS, REASON } from "../../src/shared/channel/layout.ts";
import { thisThread } from "../../src/shared/threads/this-thread.ts";
import { createRandom, upTo } from "../support/random.ts";
import { pause } from "../support/runtime.ts";
import {
  collectGarbage,
  EXHAUSTED_MS,
  exhaustsMemory,
  HEAP_MB,
  isOfDeath,
  type Plan,
  randomPlan,
  withAbort,
} from "./deaths.ts";
import type { Report } from "./round.ts";
import {
  type Ends,
  type Item,
  type Log,
  MAX_JOBS,
  MAX_USES,
  type Use,
  use,
} from "./travel-tasks.ts";

type Tasks = typeof import("./travel-tasks.ts");

const THREADS = 3;
const WATCHDOG_MS = 30_000;
/** Nothing dies in some rounds: then both channels end while their threads live. */
const CALM = 0.3;
const CALM_MS = 10_000;

interface Round {
  readonly random: () => number;
  readonly pool: Pool<Tasks>;
  readonly ends: Ends;
  readonly log: Log;
  readonly exhausts: boolean;
  readonly isCalm: boolean;
  readonly collects: boolean;
  readonly faults: string[];
}

const LIVING: Plan = { end: "none", ms: 0, place: "between", at: 0 };

function nextUse({ random, log, exhausts, isCalm, collects }: Round): Use {
  return {
    log,
    seed: upTo(random, 2 ** 30),
    plan: isCalm ? LIVING : randomPlan(random, exhausts),
    drops: collects && random() < 0.3,
  };
}

/** Uses ends that have come to the host. */
async function useHere(ends: Ends, given: Use): Promise<void> {
  await use(ends, { ...given, plan: LIVING });
}

async function travel(round: Round, given: Use, signal: AbortSignal): Promise<void> {
  const { random, pool, ends, isCalm } = round;
  const call = <Name extends keyof Pool<Tasks>["call"]>(name: Name): Pool<Tasks>["call"][Name] =>
    pool.call[name].with({ signal, killAfterMs: 0 }) as Pool<Tasks>["call"][Name];
  const count = 1 + upTo(random, 3);
  switch (upTo(random, 8)) {
    case 0:
      return await call("use")(ends, given);
    case 1:
      return await useHere(await call("giveBack")(ends, given), given);
    case 2:
      return await call("borrowed")(given);
    case 3:
      return await call("calledBack")(callback(() => ends), given);
    case 4:
      return await call("lent")(ends, given);
    case 5: {
      const source = (async function* () {
        for (let item = 0; item < count; item++) yield ends;
      })();
      return await call("streamed")(source, given);
    }
    case 6: {
      let left = isCalm ? Infinity : upTo(random, count);
      for await (const item of call("generated")(ends, count, given)) {
        if (left-- === 0) break;
        await useHere(item, given);
      }
      return;
    }
    case 7:
      return await call("nested")(ends, given);
    default:
      return await call("deeper")(ends, given);
  }
}

/** Receives all items until the channel ends. */
async function receiveAll(
  { ends, log, faults }: Round,
  receiver: AsyncIterable<Item>,
): Promise<void> {
  const next = new Map<number, number>();
  try {
    for await (const { use, number, text } of receiver) {
      const expected = next.get(use) ?? 0;
      if (number !== expected) faults.push(`item ${number} of use ${use}, not ${expected}`);
      if (!text.startsWith(`${use}:${number} `)) faults.push("torn item");
      next.set(use, number + 1);
    }
  } catch (error) {
    // The thread of the last sender died.
    if ((error as { code?: string }).code !== "HEDDLE_CHANNEL_CLOSED") throw error;
  }
  for (let use = 1; use <= log.sent.at(0)!; use++) {
    const sent = log.sent.atomic.load(use);
    const received = next.get(use) ?? 0;
    if (received < sent) faults.push(`${sent} items of use ${use} sent, ${received} received`);
  }
  ends.receiver.close();
}

/** Keeps jobs in the channel. How many there were. */
async function giveJobs(jobs: Sender<number>, isOver: () => boolean): Promise<number> {
  let job = 0;
  while (!isOver() && job < MAX_JOBS) {
    if (jobs.trySend(job)) job++;
    else await pause(1);
  }
  return job;
}

/** Whether both channels end by themselves, with all garbage collected. */
async function awaitEnds(
  pool: Pool<Tasks> | undefined,
  isOver: () => boolean,
  maxMs: number,
): Promise<boolean> {
  const lastMs = performance.now() + maxMs;
  while (!isOver() && performance.now() < lastMs) {
    collectGarbage();
    await pool?.broadcast.collect();
    await pause(10);
  }
  return isOver();
}

function inspectJobs({ log, faults }: Round, made: number, left: number, kills: number): void {
  let taken = 0;
  for (let job = 0; job < made; job++) {
    const count = log.taken.at(job)!;
    if (count > 1) faults.push(`job ${job} was taken ${count} times`);
    taken += count;
  }
  // Each thread that dies may have taken one that it has not counted; a worker that dies may have a worker of its own.
  const lost = made - taken - left;
  if (lost < 0 || lost > 2 * kills) faults.push(`${lost} of ${made} jobs lost, ${kills} deaths`);
}

/** The words of a channel. */
function wordsOf(end: Sender<never>): Int32Array {
  const { buffer, departure } = end[HANDLE];
  departure?.end(); // it is not sent
  return new Int32Array(buffer);
}

/** The records of threads that have ends, or have some on their way, and whether they live. */
function describeEnds(words: Int32Array): unknown {
  const { root, token } = thisThread();
  const records: unknown[] = [{ here: token }];
  for (let at = ENDS; at < REASON; at += END_WORDS) {
    const record = [...words.subarray(at, at + END_WORDS)];
    if (record[0] !== 0) records.push([root.isAlive(record[0]!), ...record]);
  }
  return records;
}

export async function travelRound(seed: number, ms = 2500): Promise<Report> {
  const random = createRandom(seed);
  const [sender, receiver] = channel<Item>({ capacity: 16, maxBytes: 2 ** 17 });
  const [jobs, input] = channel<number>({ capacity: 8 });
  const faults: string[] = [];
  const ends: Ends = { sender, receiver: input };
  const exhausts = exhaustsMemory(random);
  const isCalm = random() < CALM;
  const functions = { lend: () => ends, take: useHere };
  const round: Round = {
    random,
    ends,
    exhausts,
    faults,
    isCalm,
    collects: collectGarbage(),
    log: {
      sent: new SharedVector("i32", { length: MAX_USES + 1 }),
      taken: new SharedVector("u8", { length: MAX_JOBS }),
    },
    pool: createPool({
      threads: THREADS,
      host: { functions },
      hardTimeoutMs: isCalm ? Infinity : exhausts ? EXHAUSTED_MS : 100 + upTo(random, 300),
      maxAbandonedThreads: 16,
      ...(exhausts && { resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } }),
    })<Tasks>(new URL("./travel-tasks.ts", import.meta.url)),
  };
  const words = [wordsOf(sender), wordsOf(jobs)];
  let kills = 0;
  let stage = "running";
  const watchdog = setTimeout(() => {
    const { isCalm } = round;
    const ended = [receiver.isEnded, !jobs.isReceived];
    console.error(`travel, seed ${seed}: stuck while ${stage}`, { kills, isCalm, ended });
    console.error("ends:", JSON.stringify(words.map(describeEnds)));
    process.exit(1);
  }, WATCHDOG_MS + ms);
  const received = receiveAll(round, receiver);
  let isOver = false;
  const given = giveJobs(jobs, () => isOver);
  const endMs = performance.now() + ms;
  await Promise.all(Array.from({ length: THREADS }, async () => {
    while (performance.now() < endMs && faults.length === 0) {
      const next = nextUse(round);
      try {
        await withAbort(next.plan, (signal) => travel(round, next, signal));
      } catch (error) {
        if (isOfDeath(error)) kills++;
        else faults.push(String((error as Error).stack));
      }
    }
  }));
  isOver = true;
  const made = await given;
  sender.close();
  input.close();
  stage = "waiting for the end";
  const isEnded = (): boolean => receiver.isEnded && !jobs.isReceived;
  if (round.isCalm && !await awaitEnds(round.pool, isEnded, CALM_MS)) {
    faults.push(`calm, and not over: ${JSON.stringify(words.map(describeEnds))}`);
  }
  await round.pool.shutdown(0);
  stage = "waiting for the end, of threads too";
  await awaitEnds(undefined, isEnded, Infinity);
  await received;
  inspectJobs(round, made, jobs.size, kills);
  jobs.close();
  clearTimeout(watchdog);
  return { kills, late: 0, operations: round.log.sent.at(0)!, faults };
}
