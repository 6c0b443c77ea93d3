/** One round: workers stir all kinds of shared objects and end in all kinds of ways, the host stirs too; then everything is looked at. */
import {
  channel,
  Mutex,
  RwLock,
  Semaphore,
  SharedCache,
  SharedMap,
  SharedVector,
  WaitGroup,
} from "../../src/mod-shared.ts";
import { HANDLE } from "../../src/realm/handles.ts";
import { thisThread } from "../../src/shared/threads/this-thread.ts";
import { pause } from "../support/runtime.ts";
import { createRandom } from "../support/random.ts";
import {
  EXHAUSTED_MS,
  exhaustsMemory,
  HEAP_MB,
  isOfDeath,
  type Plan,
  randomPlan,
  withAbort,
} from "./deaths.ts";
import {
  createStirPool,
  isExpected,
  MAX_MESSAGES,
  type Message,
  type Objects,
  OPERATIONS,
  RECEIVED,
  SENT,
  type StirPool,
  Stirrer,
} from "./tasks.ts";

const PERMITS = 3;
const THREADS = 3;
/** After a death a thread is marked within this time, if nothing holds the event loop up. */
const WATCHDOG_MS = 30_000;

export interface Report {
  /** Calls that ended with the death of their worker. */
  readonly kills: number;
  /** How often the host found an object taken for too long. */
  readonly late: number;
  readonly operations: number;
  readonly faults: readonly string[];
}

function createObjects(): Objects {
  const [sender, receiver] = channel<Message>({ capacity: 20, maxBytes: 2 ** 17 });
  return {
    map: new SharedMap({ maxBytes: 2 ** 19 }),
    bytes: new SharedMap({ maxBytes: 2 ** 20 }),
    cache: new SharedCache({ maxBytes: 2 ** 18 }),
    counts: new SharedMap({ maxBytes: 2 ** 16 }),
    pairs: new SharedVector("i32", { length: RECEIVED + 1 }),
    taken: new SharedVector("u8", { length: MAX_MESSAGES }),
    mutex: new Mutex(),
    rwLock: new RwLock(),
    semaphore: new Semaphore(PERMITS),
    group: new WaitGroup(),
    sender,
    receiver,
    faults: new SharedMap({ maxBytes: 2 ** 20 }),
  };
}

function createPool(random: () => number, exhausts: boolean): StirPool {
  return createStirPool({
    threads: THREADS,
    maxConcurrency: 1, // a task that blocks for a lock must not find that another task of its thread waits for it
    hardTimeoutMs: exhausts ? EXHAUSTED_MS : 20 + Math.floor(random() * 250),
    maxAbandonedThreads: 16, // Deno stops threads slowly where other processes take the cores
    ...(exhausts && { resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } }),
  });
}

/** `ms`: how long workers are killed. */
export async function chaosRound(seed: number, ms = 2500): Promise<Report> {
  late = 0;
  const random = createRandom(seed);
  const objects = createObjects();
  const faults: string[] = [];
  let [kills, from] = [0, 1];
  const exhausts = exhaustsMemory(random);
  const pool = createPool(random, exhausts);
  const endMs = performance.now() + ms;
  const call = (plan: Plan, signal: AbortSignal) => {
    const names = ["stir", "stir", "roam", "nest"] as const;
    const name = names[Math.floor(random() * names.length)]!;
    return pool.call[name].with({ signal, killAfterMs: 0 })(
      [objects, Math.floor(random() * 2 ** 30), from++, plan],
    );
  };
  const workers = Array.from({ length: THREADS }, async () => {
    // A busy machine may need longer for the first death.
    while ((performance.now() < endMs || kills === 0) && faults.length === 0) {
      const plan = randomPlan(random, exhausts);
      try {
        await withAbort(plan, (signal) => call(plan, signal));
      } catch (error) {
        if (isOfDeath(error)) kills++;
        else faults.push(String((error as Error).stack));
      }
    }
  });
  const watchdog = setTimeout(() => {
    console.error(`seed ${seed}: stuck while ${stage}; ${JSON.stringify({ kills })}`);
    describe(objects);
    process.exit(1);
  }, WATCHDOG_MS + ms);
  await stirHere(objects, seed, endMs, faults);
  stage = "waiting for calls";
  await Promise.all(workers);
  stage = "shutting down";
  await pool.shutdown(0);
  stage = "looking at what is left";
  await inspect(objects, kills, faults);
  clearTimeout(watchdog);
  return { kills, late, operations: objects.pairs.at(OPERATIONS)!, faults };
}

let stage = "";
let late = 0;

/** The words of each object but their tables, for the watchdog. */
function describe(objects: Objects): void {
  const { root } = thisThread();
  const alive = Array.from({ length: root.high }, (_, at) => [root.tokenAt(at), root.visits(at)]);
  console.error(JSON.stringify({ alive, deaths: root.deaths }));
  for (const [name, object] of Object.entries(objects)) {
    if (object === objects.sender || object === objects.receiver) continue;
    const { buffer } = object[HANDLE] as { buffer: SharedArrayBuffer };
    const words = [...new Int32Array(buffer).entries()].filter(([at, word]) =>
      at < 1100 && word !== 0
    );
    console.error(name, JSON.stringify(words.slice(0, 100)));
  }
}

/** The host's part, in its event loop. */
async function stirHere(
  objects: Objects,
  seed: number,
  endMs: number,
  faults: string[],
): Promise<void> {
  const stirrer = new Stirrer(objects, seed, 0);
  const { mutex, semaphore, sender, receiver, counts, rwLock } = objects;
  while (performance.now() < endMs && faults.length === 0) {
    try {
      stage = "stirring maps";
      stirrer.map();
      stirrer.cache();
      stirrer.bytes();
      stage = "locking";
      const guard = await mutex.lock({ recover: true });
      stirrer.pair(0, guard.wasPoisoned, "mutex");
      guard.release();
      stage = "writing";
      const written = await rwLock.write({ recover: true });
      stirrer.pair(2, written.wasPoisoned, "rwLock");
      written.release();
      stage = "acquiring";
      (await semaphore.acquire(2)).release();
      stage = "sending and receiving";
      if (sender.trySend(stirrer.message())) stirrer.sent();
      const taken = receiver.tryReceive();
      if (taken !== undefined) stirrer.received(taken.value);
      await stirrer.select();
      stage = "updating";
      await counts.update("all", (old = 0) => old + 1);
    } catch (error) {
      // A thread was suspended for so long, on a machine with too much to do: docs/shared.md promises no more.
      const isLate = (error as { code?: string }).code === "HEDDLE_WAIT_TIMEOUT";
      if (isLate) late++;
      else if (!isExpected(error)) faults.push(`host: ${(error as Error).stack}`);
    }
    await pause(0);
  }
}

/** What has to hold when only this thread is left. */
async function inspect(objects: Objects, kills: number, faults: string[]): Promise<void> {
  const { map, bytes, cache, counts, mutex, rwLock, semaphore, group } = objects;
  const { root, index } = thisThread();
  const others = () =>
    Array.from({ length: root.high }, (_, at) => at).filter((at) =>
      at !== index && root.tokenAt(at) !== 0
    );
  const lastMs = performance.now() + 5000;
  while (others().length > 0 && performance.now() < lastMs) await pause(20);
  const expect = (what: string, actual: unknown, expected: unknown): void => {
    if (actual !== expected) faults.push(`${what}: ${String(actual)}, not ${String(expected)}`);
  };
  expect("threads", others().length, 0);
  const timeoutMs = 5000;
  for (
    const lock of [
      mutex.lock({ recover: true, timeoutMs }),
      rwLock.write({ recover: true, timeoutMs }),
      semaphore.acquire(PERMITS, { timeoutMs }),
    ]
  ) (await lock).release();
  expect("permits", semaphore.available, PERMITS);
  await group.wait({ recover: true, timeoutMs });
  expect("pending work", group.pending, 0);
  for (const [name, each] of Object.entries({ map, bytes, cache, counts })) {
    expect(`size of ${name}`, each.size, [...each.keys()].length);
    expect(`keys of ${name}`, new Set<unknown>(each.keys()).size, each.size);
  }
  inspectChannel(objects, kills, expect);
  for (const [name, stack] of objects.faults) faults.push(`${name}\n${stack}`);
  expect("room in the map", await roomOf(map), await roomOf(new SharedMap({ maxBytes: 2 ** 19 })));
}

type Expect = (what: string, actual: unknown, expected: unknown) => void;

function inspectChannel(
  { sender, receiver, pairs }: Objects,
  kills: number,
  expect: Expect,
): void {
  // It need not have ended: an end that was sent to a worker that was killed before it got it may be on its way for ever.
  let left = 0;
  while (!receiver.isEnded && receiver.tryReceive() !== undefined) left++;
  expect("values left", left <= receiver.capacity, true);
  expect("values in the channel", receiver.size, 0);
  // A thread that dies between an operation and its count has miscounted one.
  const lost = pairs.at(SENT)! - pairs.at(RECEIVED)! - left;
  expect(`${lost} values lost, more than ${kills} deaths explain,`, Math.abs(lost) <= kills, true);
  sender.close();
}

/** How many entries fit when it is empty: none of its memory is lost. */
async function roomOf(map: SharedMap<string, { key: string; text: string }>): Promise<number> {
  map.clear();
  await pause(0);
  try {
    for (;;) map.set(`room ${map.size}`, { key: "", text: "x".repeat(900) });
  } catch (error) {
    if ((error as { code?: string }).code !== "HEDDLE_SHARED_FULL") throw error;
  }
  return map.size;
}
