/**
 * `soak`: one caller and 2 workers that are never idle for long, for as many minutes as the command line says.
 * Rounds of 60 calls at once (numbers, texts, objects, bytes of 64 KiB, tasks that wait, throw, or are given up after a
 * millisecond), each followed by one number alone. Every answer is checked. Minute by minute: how long
 * the rounds and the single calls took, and the memory of the process.
 */
import { createPool } from "../../dist/mod.js";
import { echo, fail, later } from "../contenders/heddle-soak.ts";
import { finish, readArguments, type RoundSamples } from "../harness/child.ts";
import { sleep, US_PER_MS } from "../harness/clock.ts";
import { byteArray } from "../payloads/bytes.ts";
import { user } from "../payloads/objects.ts";
import { assertSame } from "../payloads/same.ts";
import { asciiText } from "../payloads/text.ts";
import { ECHO, MEMORY, MIXED } from "./soak-cases.ts";

const MS_PER_MINUTE = 60_000;
const BYTES_PER_MIB = 2 ** 20;
const CALLS_OF_A_KIND = 10;
const LARGE_BYTES = 64 * 1024;
/** Between rounds, so that hours of it do not wear a machine out. */
const PAUSE_MS = 2;
/** Samples kept of a minute: hours of them have to fit. */
const MAX_SAMPLES_A_MINUTE = 5000;

/** Runs for as long as the command line says and prints the figures. */
export async function run(): Promise<never> {
  const { minutes } = readArguments();
  const pool = createPool({
    threads: 2,
    moduleUrl: new URL("../contenders/heddle-soak.ts", import.meta.url),
  })({ echo, later, fail });
  await pool.ready;
  const { call } = pool;
  const numbers = async (n: number): Promise<void> => assertSame(n, await call.echo(n));
  const values = [
    (n: number) => asciiText(20 + n % 500, n),
    (n: number) => user(n),
    (n: number) => byteArray(LARGE_BYTES, n),
  ];
  const echoes = async (kind: (n: number) => unknown, n: number): Promise<void> => {
    const value = kind(n);
    assertSame(value, await call.echo(value));
  };
  const failing = async (n: number): Promise<void> => {
    const error = await call.fail(`${n}`).then(() => undefined, (reason: unknown) => reason);
    if (!(error instanceof RangeError) || error.message !== `${n}`) throw error;
  };
  const givenUp = async (n: number): Promise<void> => {
    await call.later.with({ runTimeoutMs: 1, timeoutValue: null })(n % 4);
  };
  const kinds = [
    numbers,
    ...values.map((kind) => (n: number) => echoes(kind, n)),
    failing,
    givenUp,
  ];
  const found: RoundSamples[] = [];
  let n = 0;
  const startedAt = performance.now();
  for (let minute = 1; minute <= Math.ceil(minutes); minute++) {
    const end = startedAt + Math.min(minute, minutes) * MS_PER_MINUTE;
    const mixed: number[] = [];
    const alone: number[] = [];
    while (performance.now() < end) {
      const from = performance.now();
      await Promise.all(
        kinds.flatMap((kind) => Array.from({ length: CALLS_OF_A_KIND }, () => kind(++n))),
      );
      const between = performance.now();
      await numbers(++n);
      if (mixed.length < MAX_SAMPLES_A_MINUTE) {
        mixed.push((between - from) * US_PER_MS);
        alone.push((performance.now() - between) * US_PER_MS);
      }
      await sleep(PAUSE_MS);
    }
    found.push({ case: MIXED, size: minute, unit: "µs", samples: mixed });
    found.push({ case: ECHO, size: minute, unit: "µs", samples: alone });
    const memory = process.memoryUsage().rss / BYTES_PER_MIB;
    found.push({ case: MEMORY, size: minute, unit: "MiB", samples: [memory] });
    process.stderr.write(`minute ${minute}: ${n} calls, ${Math.round(memory)} MiB\n`);
  }
  await pool.shutdown();
  return finish(found);
}
