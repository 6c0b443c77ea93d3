/** Tasks whose ends of channels come and go in every way there is. Each use of a sender has a number of its own. */
import { createPool } from "../../src/mod.ts";
import type { Receiver, Sender, SharedVector } from "../../src/mod-shared.ts";
import "../../src/mod-shared.ts";
import { type Callback, currentPool, host } from "../../src/mod-task.ts";
import { thisThread } from "../../src/shared/threads/this-thread.ts";
import { createRandom, upTo } from "../support/random.ts";
import { collectGarbage, endHere, type Plan } from "./deaths.ts";

/** A value of the channel to the host. */
export interface Item {
  readonly use: number;
  readonly number: number;
  readonly text: string;
}

/** What travels together: values to the host, and jobs from it. */
export interface Ends {
  readonly sender: Sender<Item>;
  readonly receiver: Receiver<number>;
}

export interface Log {
  /** Element 0: uses so far; then how many values each has sent for certain. */
  readonly sent: SharedVector<"i32">;
  /** How often each job was taken. */
  readonly taken: SharedVector<"u8">;
}

export const MAX_USES = 2 ** 16;
export const MAX_JOBS = 2 ** 20;

export interface Use {
  readonly log: Log;
  readonly seed: number;
  readonly plan: Plan;
  /** The ends are not closed, but dropped. */
  readonly drops: boolean;
}

type Tasks = typeof import("./travel-tasks.ts");

const hostCall = host.typed<{ lend(): Ends; take(ends: Ends, use: Use): Promise<void> }>().call;

/** Sends some values and takes some jobs, then closes the ends or drops them. */
export async function use(ends: Ends, { log, seed, plan, drops }: Use): Promise<void> {
  const random = createRandom(seed);
  const at = 1 + log.sent.atomic.add(0, 1);
  const { sender, receiver } = ends;
  const count = upTo(random, 20);
  const endAt = upTo(random, 25);
  try {
    for (let number = 0; number < count; number++) {
      if (number === endAt) endHere(plan);
      const length = upTo(random, 20) === 0 ? 17_000 : upTo(random, 200);
      const item = { use: at, number, text: `${at}:${number} `.padEnd(length, "x") };
      const way = upTo(random, 2);
      if (way === 0) {
        if (!sender.trySend(item)) await sender.send(item);
      } else if (way === 1 && thisThread().mayBlock) sender.sendSync(item);
      else await sender.send(item);
      log.sent.atomic.store(at, number + 1);
      const job = receiver.tryReceive();
      if (job !== undefined) log.taken.atomic.add(job.value, 1);
    }
  } finally {
    if (!drops) close(ends);
  }
}

function close({ sender, receiver }: Ends): void {
  sender.close();
  receiver.close();
}

/** In a result: the ends go back to the host. */
export async function giveBack(ends: Ends, given: Use): Promise<Ends> {
  await use({ ...ends }, { ...given, drops: true });
  if (given.drops) return ends;
  // They are encoded when the task has returned.
  setTimeout(() => close(ends), 5);
  return ends;
}

/** In the result of a function of the host. */
export async function borrowed(given: Use): Promise<void> {
  await use(await hostCall.lend(), given);
}

/** In the result of a callback. */
export async function calledBack(lend: Callback<() => Ends>, given: Use): Promise<void> {
  await use(await lend(), given);
}

/** In an argument of a function of the host, which uses them too. */
export async function lent(ends: Ends, given: Use): Promise<void> {
  await hostCall.take(ends, { ...given, plan: { ...given.plan, end: "none" } });
  await use(ends, given);
}

/** In items of a stream of the host. */
export async function streamed(all: AsyncIterable<Ends>, given: Use): Promise<void> {
  let seed = given.seed;
  for await (const ends of all) await use(ends, { ...given, seed: ++seed });
}

/** In items of a stream to the host. */
export async function* generated(ends: Ends, count: number, given: Use): AsyncGenerator<Ends> {
  try {
    for (let item = 0; item < count; item++) yield ends;
  } finally {
    await use(ends, given);
  }
}

/** In a call of another task. */
export async function nested(ends: Ends, given: Use): Promise<void> {
  const other = { ...given, seed: given.seed + 1 };
  await Promise.all([currentPool<Tasks>().call.use(ends, other), use(ends, given)]);
}

/** In a call of a pool of the worker's own. */
export async function deeper(ends: Ends, given: Use): Promise<void> {
  const pool = createPool({ threads: 1, host: { functions: { lend: () => ends } } })<Tasks>(
    new URL(import.meta.url),
  );
  try {
    await Promise.all([
      pool.call.use(ends, { ...given, seed: given.seed + 1 }),
      pool.call.borrowed({ ...given, seed: given.seed + 2, drops: false }),
    ]);
    await use(ends, given);
  } finally {
    await pool.shutdown(0);
  }
}

/** In each worker. */
export async function collect(): Promise<void> {
  collectGarbage();
  await new Promise((resolve) => setTimeout(resolve, 5));
}
