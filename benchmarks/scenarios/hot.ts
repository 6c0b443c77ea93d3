/**
 * `hot`, `adapter` and `processes`: one worker, or as many as a contender has, called without pauses by a program that has run for a while. How long
 * until 1 and 100 calls made at once are answered: a number, an object of some 200 bytes, a string of 10,000 characters. Contenders take
 * turns in one process. Every answer of the warm-up is compared with what was sent.
 */
import type { Echo } from "../contenders/types.ts";
import { COLD_CONTENDERS } from "../contenders/one-worker.ts";
import { finish, readArguments, type RoundSamples } from "../harness/child.ts";
import type { RoundGap } from "../harness/schema.ts";
import { assertSame } from "../payloads/same.ts";
import { HOT_SIZES, HOT_VALUES, type HotValue } from "./hot-cases.ts";
import { type BlockFigure, startInTurn, takeBlock, takeInTurn } from "./in-turn.ts";

/** Calls one after the other in one sample: the clock is too coarse for one. */
const SEQUENTIAL = 20;
/** A block begins with threads that sleep: it counts when they have been called for a while. */
const SETTLE_MS = 25;
const BLOCK_MS = 25;
const FULL = { turns: 20, warmUps: 6 } as const;
const QUICK = { turns: 6, warmUps: 4 } as const;

interface Started {
  readonly name: string;
  readonly echo: Echo;
  readonly close: () => Promise<unknown>;
}

async function check(echo: Echo, value: unknown): Promise<void> {
  for (const answer of await Promise.all([echo(value), echo(value)])) assertSame(value, answer);
}

function runOf(echo: Echo, value: unknown, size: number): () => Promise<unknown> {
  if (size > 1) return () => Promise.all(Array.from({ length: size }, () => echo(value)));
  return async () => {
    for (let n = 0; n < SEQUENTIAL; n++) await echo(value);
  };
}

/** Runs one round of the contenders named on the command line and prints their figures. */
export async function run(
  _?: unknown,
  contenders = COLD_CONTENDERS,
  values: readonly HotValue[] = HOT_VALUES,
  sizesOf: (name: string) => readonly number[] = () => HOT_SIZES,
): Promise<never> {
  const { contenders: names, isQuick } = readArguments();
  const place = { case: HOT_VALUES[0].name, size: 1 };
  const { started, gaps } = await startInTurn(contenders, names, async (contender) => {
    const calls = (await contender.load())();
    await calls.echo(1);
    return calls;
  }, place);
  const found: (RoundSamples | RoundGap)[] = [...gaps];
  for (const { name, create } of isQuick ? values.slice(0, 2) : values) {
    for (const size of sizesOf(name)) {
      const value = create();
      for (const { echo } of started) await check(echo, value);
      found.push(
        ...await takeInTurn<Started>({
          contenders: started,
          ...(isQuick ? QUICK : FULL),
          place: { case: name, size },
          take: async ({ echo }): Promise<BlockFigure[]> => {
            const run = runOf(echo, value, size);
            const divisor = size === 1 ? SEQUENTIAL : 1;
            await takeBlock(run, SETTLE_MS, divisor);
            const samples = await takeBlock(run, BLOCK_MS, divisor);
            return [{ case: name, size, unit: "µs", calls: size, samples }];
          },
        }),
      );
    }
  }
  await Promise.all(started.map(({ close }) => close()));
  return finish(found);
}
