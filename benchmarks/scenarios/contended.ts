/**
 * `contended`: one worker where there is not a core for every thread: processes that compute beside, or all threads
 * on one core or half of one, which the command line sees to. Calls one after the other and one every 3 ms, each timed by itself, and
 * 20 at once; processor time of the whole process for each call. Contenders take turns in one process.
 */
import os from "node:os";
import type { Echo } from "../contenders/types.ts";
import { CONTENDED_CONTENDERS } from "../contenders/one-worker.ts";
import { startBusyProcesses } from "../harness/busy-process.ts";
import { finish, readArguments, type RoundSamples } from "../harness/child.ts";
import { sleep, US_PER_MS } from "../harness/clock.ts";
import { processCpuMs } from "../harness/cpu.ts";
import type { RoundGap } from "../harness/schema.ts";
import { createRun, type NumberCall } from "./call-batches.ts";
import * as contended from "./contended-cases.ts";
import { type BlockFigure, startInTurn, takeInTurn } from "./in-turn.ts";
import { warmUp } from "./warm-up.ts";

/** The whole time is measured, and blocks are long: the system's scheduler moves threads every few milliseconds. */
const FULL = { turns: 10, warmUps: 1, blockMs: 150 } as const;
const QUICK = { turns: 5, warmUps: 0, blockMs: 60 } as const;
/** As many as p99.9 needs. */
const MAX_SAMPLES = 20_000;

interface Timed {
  readonly samples: number[];
  /** Of all threads of the process, for one run. */
  readonly cpuUs: number;
}

/** Times runs one after the other, with a pause before each if there is one. */
async function timeRuns(
  run: () => Promise<void>,
  pauseMs: number,
  blockMs: number,
): Promise<Timed> {
  const samples: number[] = [];
  const cpuBeforeMs = processCpuMs();
  const endMs = performance.now() + blockMs;
  while (performance.now() < endMs) {
    if (pauseMs > 0) await sleep(pauseMs);
    const startedMs = performance.now();
    await run();
    samples.push((performance.now() - startedMs) * US_PER_MS);
  }
  return { samples, cpuUs: (processCpuMs() - cpuBeforeMs) * US_PER_MS / samples.length };
}

interface Figure {
  readonly name: string;
  readonly size: number;
  readonly pauseMs: number;
}

async function takeBlock(
  echo: Echo,
  { name, size, pauseMs }: Figure,
  blockMs: number,
): Promise<BlockFigure[]> {
  const run = createRun(echo as NumberCall, { size, sequential: 1, isEcho: true });
  const { samples, cpuUs } = await timeRuns(run, pauseMs, blockMs);
  const place = { size, unit: "µs" } as const;
  return [
    { ...place, case: name, calls: size, hasTail: true, samples },
    { ...place, case: contended.cpuOf(name), samples: [cpuUs / size] },
  ];
}

/** Runs one round of the contenders named on the command line and prints their figures. */
export async function run(): Promise<never> {
  const { contenders: names, isQuick, variant: placement } = readArguments();
  const { blockMs, ...turns } = isQuick ? QUICK : FULL;
  const figures: readonly Figure[] = [
    ...contended.SIZES.map((size) => ({
      name: contended.caseOf(placement, contended.AT_ONCE),
      size,
      pauseMs: 0,
    })),
    { name: contended.caseOf(placement, contended.EVERY), size: 1, pauseMs: contended.EVERY_MS },
  ];
  const first = { case: figures[0]!.name, size: figures[0]!.size };
  const { started, gaps } = await startInTurn(CONTENDED_CONTENDERS, names, async (contender) => {
    const calls = (await contender.load())();
    await warmUp(calls.echo, isQuick);
    return calls;
  }, first);
  const beside = contended.processesBeside(placement, os.availableParallelism());
  const endBusyProcesses = await startBusyProcesses(beside, contended.isInBursts(placement));
  const found: (RoundSamples | RoundGap)[] = [...gaps];
  for (const figure of figures) {
    found.push(
      ...await takeInTurn({
        contenders: started,
        ...turns,
        place: { case: figure.name, size: figure.size },
        take: ({ echo }) => takeBlock(echo, figure, blockMs),
      }),
    );
  }
  endBusyProcesses();
  await Promise.all(started.map(({ close }) => close()));
  return finish(found, MAX_SAMPLES);
}
