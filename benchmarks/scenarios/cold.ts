/**
 * `cold`: a program that has just started, a fresh process for each sample. Time of the import, from just before the
 * worker is created until the first answer, of the second call and the third, and of 2,000 and then 10,000 calls, 20
 * at once; the resident memory after three answers.
 *
 * Values are made before the import, and answers compared with them after the last call.
 */
import type { Echo } from "../contenders/echo-contender.ts";
import type { OneWorkerContender } from "../contenders/one-worker.ts";
import { chooseContender, finish, readArguments } from "../harness/child.ts";
import { US_PER_MS } from "../harness/clock.ts";
import { byteArray } from "../payloads/bytes.ts";
import { user } from "../payloads/objects.ts";
import { MANY_VARIANTS, VARIANTS } from "../payloads/payload.ts";
import { assertSame } from "../payloads/same.ts";
import { asciiText } from "../payloads/text.ts";
import {
  caseOf,
  type ColdKind,
  FIRST_ANSWER,
  FIRST_CALLS,
  IMPORT,
  MEMORY,
  NEXT_CALLS,
  SECOND_CALL,
  THIRD_CALL,
} from "./cold-cases.ts";

const AT_ONCE = 20;
const BYTES_PER_MIB = 2 ** 20;

interface Kind {
  readonly variants: number;
  create(variant: number): unknown;
}

/** As many variants as in the other scenarios, so that nobody wins by remembering the last ones. */
const KINDS: Readonly<Record<ColdKind, Kind>> = {
  "number": { variants: MANY_VARIANTS, create: (variant) => variant + 0.5 },
  "string, 16 B": { variants: MANY_VARIANTS, create: (variant) => asciiText(16, variant) },
  "object, 200 B": { variants: MANY_VARIANTS, create: user },
  "bytes, 1 KiB": { variants: VARIANTS, create: (variant) => byteArray(1024, variant) },
};

/** Calls with one value after the other. */
class ColdCalls {
  readonly #echo: Echo;
  readonly #values: readonly unknown[];
  /** The last of the answers, by number of the call. */
  readonly #answers = new Map<number, unknown>();
  #next = 0;

  constructor(echo: Echo, values: readonly unknown[]) {
    this.#echo = echo;
    this.#values = values;
  }

  async one(): Promise<void> {
    const number = this.#next++;
    this.#answers.set(number, await this.#echo(this.#valueOf(number)));
  }

  /** `count` calls, some at once, and the next ones when all of those are answered. */
  async many(count: number): Promise<void> {
    for (let left = count; left > 0; left -= AT_ONCE) {
      const first = this.#next;
      this.#next += AT_ONCE;
      const pending = new Array<Promise<unknown>>(AT_ONCE);
      for (let n = 0; n < AT_ONCE; n++) pending[n] = this.#echo(this.#valueOf(first + n));
      const answers = await Promise.all(pending);
      if (left === AT_ONCE) answers.forEach((answer, n) => this.#answers.set(first + n, answer));
    }
  }

  /** Throws if an answer that was kept is wrong. */
  check(): void {
    for (const [number, answer] of this.#answers) assertSame(this.#valueOf(number), answer);
  }

  #valueOf(number: number): unknown {
    return this.#values[number % this.#values.length];
  }
}

/** Milliseconds that `work` takes, and its result. */
async function time<Result>(work: () => Promise<Result>): Promise<[Result, number]> {
  const startedMs = performance.now();
  const result = await work();
  return [result, performance.now() - startedMs];
}

/** Runs one process of the contender and kind named on the command line and prints its figures. */
export async function runCold(contenders: readonly OneWorkerContender[]): Promise<never> {
  const { contender: name, variant } = readArguments();
  const kindName = variant as ColdKind;
  const kind = KINDS[kindName];
  const contender = chooseContender(contenders, name);
  const values = Array.from({ length: kind.variants }, (_, number) => kind.create(number));

  const [library, importMs] = await time(() => contender.load());
  const [{ calls, close }, firstMs] = await time(async () => {
    const { echo, close } = library.start();
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
  const of = (step: string): string => caseOf(step, kindName);
  return finish([
    { ...ms, case: IMPORT, samples: [importMs] },
    { ...own, unit: "MiB", case: MEMORY, samples: [rss / BYTES_PER_MIB] },
    { ...ms, case: of(FIRST_ANSWER), samples: [firstMs] },
    { ...us, case: of(SECOND_CALL), samples: [secondMs * US_PER_MS] },
    { ...us, case: of(THIRD_CALL), samples: [thirdMs * US_PER_MS] },
    { ...us, case: of(FIRST_CALLS), calls: 2000, samples: [manyMs * US_PER_MS] },
    { ...us, case: of(NEXT_CALLS), calls: 10_000, samples: [moreMs * US_PER_MS] },
  ]);
}
