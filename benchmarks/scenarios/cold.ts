/**
 * `cold`: a program that has just started, a fresh process for each sample. Time of the import, from just before the
 * worker is created until the first answer, of the second call and the third, and of 2,000 and then 10,000 calls, 20
 * at once; the resident memory after three answers.
 *
 * Values are made before the import, and answers compared with them after the last call.
 */
import { COLD_CONTENDERS } from "../contenders/one-worker.ts";
import { chooseContender, finish, readArguments } from "../harness/child.ts";
import { US_PER_MS } from "../harness/clock.ts";
import { ColdCalls, createValues, time } from "./cold-calls.ts";
import * as cold from "./cold-cases.ts";

const BYTES_PER_MIB = 2 ** 20;

/** Runs one process of the contender and kind named on the command line and prints its figures. */
export async function run(): Promise<never> {
  const { contender: name, variant } = readArguments();
  const kindName = variant as cold.ColdKind;
  const contender = chooseContender(COLD_CONTENDERS, name);
  const values = createValues(kindName);

  const [start, importMs] = await time(() => contender.load());
  const [{ calls, close }, firstMs] = await time(async () => {
    const { echo, close } = start();
    const calls = new ColdCalls(echo, values);
    await calls.one();
    return { calls, close };
  });
  const [, secondMs] = await time(() => calls.one());
  const [, thirdMs] = await time(() => calls.one());
  const { rss } = process.memoryUsage();
  const [, manyMs] = await time(() => calls.many(2000));
  const [, moreMs] = await time(() => calls.many(10_000));
  calls.check();
  await close();

  const own = { contender: name, size: 1 } as const;
  const ms = { ...own, unit: "ms" } as const;
  const us = { ...own, unit: "µs" } as const;
  const of = (step: string): string => cold.caseOf(step, kindName);
  return finish([
    { ...ms, case: cold.IMPORT, samples: [importMs] },
    { ...own, unit: "MiB", case: cold.MEMORY, samples: [rss / BYTES_PER_MIB] },
    { ...ms, case: of(cold.FIRST_ANSWER), samples: [firstMs] },
    { ...us, case: of(cold.SECOND_CALL), samples: [secondMs * US_PER_MS] },
    { ...us, case: of(cold.THIRD_CALL), samples: [thirdMs * US_PER_MS] },
    { ...us, case: of(cold.FIRST_CALLS), calls: 2000, samples: [manyMs * US_PER_MS] },
    { ...us, case: of(cold.NEXT_CALLS), calls: 10_000, samples: [moreMs * US_PER_MS] },
  ]);
}
