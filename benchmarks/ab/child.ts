/**
 * One process of `bench:ab`: both builds in turn, in blocks of milliseconds, with one worker each; or with `--cold` the first calls
 * of a process that has loaded one of them. Prints figures whose contenders are the builds.
 */
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { isMainThread } from "node:worker_threads";
import type * as Heddle from "../../dist/mod.js";
import type { Echo } from "../contenders/types.ts";
import { finish, type RoundSamples } from "../harness/child.ts";
import { spinFor, US_PER_MS } from "../harness/clock.ts";
import { checkClock } from "../harness/clock-check.ts";
import type { RoundGap } from "../harness/schema.ts";
import { KINDS } from "../payloads/kinds.ts";
import { type PayloadKind, VARIANTS } from "../payloads/payload.ts";
import { ColdCalls, createValues, time } from "../scenarios/cold-calls.ts";
import { FIRST_ANSWER, FIRST_CALLS, SECOND_CALL } from "../scenarios/cold-cases.ts";
import { prepareEcho } from "../scenarios/echo.ts";
import { type BlockFigure, takeBlock, takeInTurn } from "../scenarios/in-turn.ts";
import { callInTurn } from "../scenarios/paced-calls.ts";
import { takeLatenessSamples } from "../scenarios/spin-lateness.ts";
import { NEW, OLD } from "./changes.ts";

export const echo = (value: unknown): unknown => value;
export const add = (a: number, b: number): number => a + b;
/** Computes for `us` microseconds; answers with the time of its end. */
export const spin = (us: number): number => spinFor(us);

/** Calls one after the other in one sample: the clock is too coarse for one. */
const SEQUENTIAL_CALLS = 16;
const BLOCK_MS = 5;
const WARM_UPS = 60;
const TURNS = 120;
const QUICK = { warmUps: 5, turns: 10 } as const;

const kindOf = (name: string): PayloadKind => KINDS.find((each) => each.name === name)!;

/** What is echoed, and how many calls at once. */
const ECHOES: Readonly<Record<string, readonly [kind: PayloadKind, ...batches: number[]]>> = {
  "f64": [kindOf("number"), 1, 10, 100, 1000],
  "add": [{ ...kindOf("number"), name: "add(1, 2)", create: () => 3 }, 1, 100],
  "string": [kindOf("string, 16 ASCII"), 1, 100],
  "object": [kindOf("object, 200 B"), 1, 100],
  "bytes": [kindOf("Uint8Array, 1 KiB"), 1, 100],
};
/** Microseconds of tasks, and tasks of a block. */
const LATENESS = [[200, 25], [20_000, 2]] as const;
const SPORADIC = [[1000, 40], [3000, 20]] as const;

interface Build {
  readonly name: string;
  readonly call: {
    readonly echo: Echo;
    readonly add: (a: number, b: number) => Promise<unknown>;
    readonly spin: (us: number) => Promise<number>;
  };
}

/** A pool of one worker of the build at this path. */
async function load(name: string, path: string): Promise<Build> {
  const { createPool } = await import(pathToFileURL(path).href) as typeof Heddle;
  const pool = createPool({ threads: 1 })({ echo, add, spin });
  await pool.ready;
  return { name, call: pool.call };
}

type Found = (RoundSamples | RoundGap)[];

async function measureWarm(
  builds: readonly Build[],
  only: readonly string[],
  isQuick: boolean,
): Promise<Found> {
  const turns = isQuick ? QUICK : { warmUps: WARM_UPS, turns: TURNS };
  const found: Found = [];
  const inTurn = async (
    place: BlockFigure,
    take: (build: Build) => Promise<number[]>,
    divisor = 1,
  ): Promise<void> => {
    found.push(
      ...await takeInTurn({
        contenders: builds,
        warmUps: Math.ceil(turns.warmUps / divisor),
        turns: Math.max(5, Math.ceil(turns.turns / divisor)),
        place,
        take: async (build) => [{ ...place, samples: await take(build) }],
      }),
    );
  };
  for (const [name, [kind, ...batches]] of Object.entries(ECHOES)) {
    for (const batch of only.includes(name) ? batches : []) {
      const variants = kind.variants ?? VARIANTS;
      const run = { case: name, size: batch, kind, batch, sequentialCalls: SEQUENTIAL_CALLS };
      const runs = new Map(builds.map(({ name: build, call }) => {
        const send = name === "add" ? () => call.add(1, 2) : call.echo;
        return [build, prepareEcho(send, { ...run, variants })];
      }));
      for (const { check } of runs.values()) await check();
      const place = { case: `${name}, ${batch} at once`, size: batch, unit: "µs", samples: [] };
      await inTurn(place as BlockFigure, ({ name: build }) => {
        const { calls, divisor } = runs.get(build)!;
        return takeBlock(calls, BLOCK_MS, divisor);
      });
    }
  }
  for (const [us, count] of only.includes("lateness") ? LATENESS : []) {
    const place = { case: `lateness of ${us} µs`, size: us, unit: "µs", samples: [] } as const;
    await inTurn(place, ({ call }) => takeLatenessSamples(call.spin, us, count), 10);
  }
  for (const [gapUs, calls] of only.includes("sporadic") ? SPORADIC : []) {
    const callers = builds.map(({ name, call }) => ({ name, echo: call.echo }));
    const pace = { gapUs, isPoisson: false, turns: isQuick ? 5 : 12, calls };
    for (const each of await callInTurn(callers, pace)) {
      const place = { contender: each.name, size: gapUs, unit: "µs" } as const;
      const { latencies: samples, latencyBlocks: blocks, cpuBlocks } = each;
      found.push({ ...place, case: `a call every ${gapUs} µs`, samples, blocks });
      const name = `its processor time, every ${gapUs} µs`;
      found.push({ ...place, case: name, samples: cpuBlocks, blocks: cpuBlocks });
    }
  }
  return found;
}

/** Nothing else has run in the process, and there are no types to strip. */
async function measureCold(contender: string, path: string): Promise<Found> {
  const values = createValues("object, 200 B");
  const { createPool, importTask } = await import(pathToFileURL(path).href) as typeof Heddle;
  const href = new URL("../contenders/plain/tasks.mjs", import.meta.url);
  const [{ calls, pool }, firstMs] = await time(async () => {
    const task = importTask<(value: unknown) => unknown>({ href, name: "echo" });
    const pool = createPool({ threads: 1 })({ echo: task });
    const calls = new ColdCalls(pool.call.echo, values);
    await calls.one();
    return { calls, pool };
  });
  const [, secondMs] = await time(() => calls.one());
  const [, manyMs] = await time(() => calls.many(2000));
  calls.check();
  await pool.shutdown();
  return [[FIRST_ANSWER, firstMs], [SECOND_CALL, secondMs], [FIRST_CALLS, manyMs]].map((
    [name, ms],
  ) => ({
    contender,
    case: `cold, ${name}`,
    size: 1,
    unit: "µs",
    samples: [Number(ms) * US_PER_MS],
  }));
}

if (isMainThread) {
  const { values } = parseArgs({
    options: {
      old: { type: "string", default: "" },
      new: { type: "string", default: "" },
      cold: { type: "string" },
      only: { type: "string", default: "" },
      quick: { type: "boolean", default: false },
    },
  });
  const { cold } = values;
  if (cold !== undefined) await finish(await measureCold(cold, values[cold as typeof OLD]));
  await checkClock();
  const builds = [await load(OLD, values.old), await load(NEW, values.new)];
  await finish(await measureWarm(builds, values.only.split(","), values.quick));
}
