/**
 * `streams`: items through one stream, from the worker and to it: heddle, messages by hand, and a Node `Readable` that is
 * filled by messages; a task for a million numbers, by `map` and by batches of calls; and the memory of a stream of 100
 * million numbers.
 */
import { createPool, type Pool } from "../../dist/mod.js";
import { countItems, generate, square } from "../contenders/stream-items.ts";
import { startStreamsByHand } from "../contenders/stream-by-hand.ts";
import { finish, readArguments, type RoundSamples } from "../harness/child.ts";
import * as streamsCases from "./streams-cases.ts";

type Tasks = typeof import("../contenders/stream-items.ts");

/** Items of one sample. */
const COUNTS: Readonly<Record<streamsCases.StreamKind, number>> = {
  "number": 500_000,
  "object, 200 B": 50_000,
  "bytes, 16 KiB": 5000,
};
const QUICK_PART = 100;
const SAMPLES = 7;
/** Not counted. */
const WARM_UP = 2;
/** A run that takes longer is not repeated: Deno copies bytes of messages element by element. */
const SLOW_MS = 3000;
const NS_PER_MS = 1e6;
const MILLION = 1_000_000;
const BYTES_PER_MIB = 2 ** 20;

async function startPool(threads: number): Promise<Pool<Tasks>> {
  const pool = createPool({ threads })<Tasks>(
    new URL("../contenders/stream-items.ts", import.meta.url),
  );
  await pool.ready;
  return pool;
}

/** Nanoseconds for each of `count` items. */
async function sample(
  isQuick: boolean,
  count: number,
  run: () => Promise<number>,
): Promise<number[]> {
  const samples: number[] = [];
  const all = isQuick ? 2 : SAMPLES + WARM_UP;
  for (let n = 0; n < all; n++) {
    const startMs = performance.now();
    const got = await run();
    const ms = performance.now() - startMs;
    if (got !== count) throw new Error(`${got} of ${count} items arrived`);
    if (isQuick ? n > 0 : n >= WARM_UP) samples.push(ms * NS_PER_MS / count);
    else if (ms > SLOW_MS) {
      samples.push(ms * NS_PER_MS / count);
      break;
    }
  }
  return samples;
}

async function eachKind(
  isQuick: boolean,
  runs: (
    kind: streamsCases.StreamKind,
    count: number,
  ) => { readonly from: () => Promise<number>; readonly to: () => Promise<number> },
): Promise<RoundSamples[]> {
  const found: RoundSamples[] = [];
  for (const kind of streamsCases.STREAM_KINDS) {
    const count = isQuick ? COUNTS[kind] / QUICK_PART : COUNTS[kind];
    const { from, to } = runs(kind, count);
    const common = { size: 1, unit: "ns" } as const;
    found.push({
      ...common,
      case: streamsCases.resultCase(kind),
      samples: await sample(isQuick, count, from),
    });
    found.push({
      ...common,
      case: streamsCases.argumentCase(kind),
      samples: await sample(isQuick, count, to),
    });
  }
  return found;
}

async function byHeddle(isQuick: boolean): Promise<RoundSamples[]> {
  const pool = await startPool(1);
  const found = await eachKind(isQuick, (kind, count) => ({
    from: () => countItems(pool.call.generate(kind, count)),
    to: () => pool.call.countItems(generate(kind, count) as unknown as AsyncIterable<unknown>),
  }));
  await pool.shutdown();
  return found;
}

async function byHand(isQuick: boolean, isReadable: boolean): Promise<RoundSamples[]> {
  const streams = await startStreamsByHand();
  const found = await eachKind(isQuick, (kind, count) => ({
    from: () => streams.run({ sends: true, kind, count, isReadable }),
    to: () => streams.run({ sends: false, kind, count, isReadable }),
  }));
  await streams.close();
  return found;
}

async function mapping(isQuick: boolean, isMap: boolean): Promise<RoundSamples[]> {
  const pool = await startPool(2);
  const { call } = pool;
  const count = isQuick ? MILLION / QUICK_PART : MILLION;
  const numbers = Array.from({ length: count }, (_, n) => n + 0.5);
  const byCalls = async (): Promise<number[]> => {
    const results: number[] = [];
    for (let at = 0; at < count; at += 1000) {
      for (const x of await Promise.all(numbers.slice(at, at + 1000).map((x) => call.square(x)))) {
        results.push(x);
      }
    }
    return results;
  };
  const samples = await sample(isQuick, count, async () => {
    const results = isMap ? await pool.map(call.square, numbers).toArray() : await byCalls();
    if (results[count - 1] !== square(count - 0.5)) throw new Error("a wrong result");
    return results.length;
  });
  await pool.shutdown();
  return [{ case: streamsCases.MAP, size: 1, unit: "ns", samples }];
}

/** Resident memory while a stream goes on. */
async function memory(isQuick: boolean): Promise<RoundSamples[]> {
  const pool = await startPool(1);
  const found: RoundSamples[] = [];
  const marks = isQuick ? [] : [1, 10, 25, 50, 75, 100];
  let count = 0;
  for await (const _ of pool.call.generate("number", (marks.at(-1) ?? 0) * MILLION)) {
    count++;
    if (count % MILLION !== 0 || !marks.includes(count / MILLION)) continue;
    const mib = process.memoryUsage().rss / BYTES_PER_MIB;
    found.push({
      case: streamsCases.MEMORY_AFTER,
      size: count / MILLION,
      unit: "MiB",
      samples: [mib],
    });
  }
  await pool.shutdown();
  return found;
}

/** Runs one contender and prints its figures. */
export async function run(): Promise<never> {
  const { contender, isQuick } = readArguments();
  switch (contender) {
    case streamsCases.BY_MAP:
      return finish(await mapping(isQuick, true));
    case streamsCases.BY_CALLS:
      return finish(await mapping(isQuick, false));
    case streamsCases.MEMORY_CONTENDER:
      return finish(await memory(isQuick));
    case "heddle":
      return finish(await byHeddle(isQuick));
    default:
      return finish(await byHand(isQuick, contender !== "postMessage"));
  }
}
