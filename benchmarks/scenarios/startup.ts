/**
 * `startup`: what a program waits for, each once in a fresh process: the import, a pool of one worker until
 * it is ready, its first call, a second pool of one worker; and by how much the process grows (resident
 * memory) with each of 4 workers that have all been called.
 */
import type { StartupContender } from "../contenders/startup-contender.ts";
import { chooseContender, finish, readArguments, type RoundSamples } from "../harness/child.ts";
import { sleep } from "../harness/clock.ts";
import { FIRST_CALL, IMPORT, MEMORY, MEMORY_WORKERS, ONE_MORE, READY } from "./startup-cases.ts";

const BYTES_PER_MIB = 2 ** 20;
/** Every worker gets some. */
const CALLS_PER_WORKER = 50;
/** What engines do after a start is counted as well. */
const SETTLE_MS = 300;

/** Runs one round of the contender named on the command line and prints its figures. */
export async function runStartup(contenders: readonly StartupContender[]): Promise<never> {
  const contender = chooseContender(contenders, readArguments().contender);
  const found: RoundSamples[] = [];
  const time = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    const startedAt = performance.now();
    const result = await work();
    const samples = [performance.now() - startedAt];
    found.push({ case: name, size: 1, unit: "ms", samples });
    return result;
  };
  const library = await time(IMPORT, () => contender.load());
  const first = await time(READY, () => library.start(1));
  await time(FIRST_CALL, () => first.call());
  const second = await time(ONE_MORE, () => library.start(1));
  await sleep(SETTLE_MS);
  const before = process.memoryUsage().rss;
  const pool = await library.start(MEMORY_WORKERS);
  const calls = Array.from({ length: MEMORY_WORKERS * CALLS_PER_WORKER }, () => pool.call());
  await Promise.all(calls);
  await sleep(SETTLE_MS);
  const grown = process.memoryUsage().rss - before;
  found.push({
    case: MEMORY,
    size: MEMORY_WORKERS,
    unit: "MiB",
    samples: [grown / MEMORY_WORKERS / BYTES_PER_MIB],
  });
  await Promise.all([first, second, pool].map((each) => each.close()));
  return finish(found);
}
