/**
 * `contended`: one worker where there is not a core for every thread: a process that computes beside, or all threads
 * on one core, which the command line sees to. Calls one after the other and one every 3 ms, each timed by itself, and
 * 20 at once; processor time of the whole process for each call. Contenders take turns in one process.
 */
import type { Echo } from "../contenders/echo-contender.ts";
import type { OneWorkerContender } from "../contenders/one-worker.ts";
import { startBusyProcess } from "../harness/busy-process.ts";
import { finish, readArguments, type RoundSamples } from "../harness/child.ts";
import { sleep, US_PER_MS } from "../harness/clock.ts";
import { processCpuMs } from "../harness/cpu.ts";
import type { RoundGap } from "../harness/schema.ts";
import { createRun, type NumberCall } from "./call-batches.ts";
import { AT_ONCE, BUSY, caseOf, cpuOf, EVERY, EVERY_MS, SIZES } from "./contended-cases.ts";
import { type BlockFigure, startInTurn, takeInTurn } from "./in-turn.ts";
import { warmUp } from "./warm-up.ts";

/** The whole time is measured, and blocks are long: the system's scheduler moves threads every few milliseconds. */
const BLOCK_MS = 150;
const FULL = { turns: 10, warmUps: 1 } as const;
const QUICK = { turns: 5, warmUps: 0 } as const;
/** As many as p99.9 needs. */
const MAX_SAMPLES = 20_000;

interface Timed {
  readonly samples: number[];
  /** Of all threads of the process, for one run. */
  readonly cpuUs: number;
}

/** Times runs one after the other, with a pause before each if there is one. */
async function timeRuns(run: () => Promise<void>, pauseMs: number): Promise<Timed> {
  const samples: number[] = [];
  const cpuBeforeMs = processCpuMs();
  const endMs = performance.now() + BLOCK_MS;
  while (performance.now() < endMs) {
    if (pauseMs > 0) await sleep(pauseMs);
    const startedMs = performance.now();
    await run();
    samples.push((performance.now() - startedMs) * US_PER_MS);
  }
  return { samples, cpuUs: (processCpuMs() - cpuBeforeMs) * US_PER_MS / samples.length };
}

async function takeBlock(
  echo: Echo,
  name: string,
  size: number,
  pauseMs: number,
): Promise<BlockFigure[]> {
  const run = createRun(echo as NumberCall, { size, sequential: 1, isEcho: true });
  const { samples, cpuUs } = await timeRuns(run, pauseMs);
  const place = { size, unit: "µs" } as const;
  return [
    { ...place, case: name, calls: size, hasTail: true, samples },
    { ...place, case: cpuOf(name), samples: [cpuUs / size] },
  ];
}

/** Runs one round of the contenders named on the command line and prints their figures. */
export async function runContended(contenders: readonly OneWorkerContender[]): Promise<never> {
  const { contenders: names, isQuick, variant: placement } = readArguments();
  const figures = [
    ...SIZES.map((size) => ({ name: caseOf(placement, AT_ONCE), size, pauseMs: 0 })),
    { name: caseOf(placement, EVERY), size: 1, pauseMs: EVERY_MS },
  ];
  const first = { case: figures[0]!.name, size: figures[0]!.size };
  const { started, gaps } = await startInTurn(contenders, names, async (contender) => {
    const calls = (await contender.load()).start();
    await warmUp(calls.echo, isQuick);
    return calls;
  }, first);
  const endBusyProcess = placement === BUSY ? await startBusyProcess() : () => {};
  const found: (RoundSamples | RoundGap)[] = [...gaps];
  for (const { name, size, pauseMs } of figures) {
    found.push(
      ...await takeInTurn({
        contenders: started,
        ...(isQuick ? QUICK : FULL),
        place: { case: name, size },
        take: ({ echo }) => takeBlock(echo, name, size, pauseMs),
      }),
    );
  }
  endBusyProcess();
  await Promise.all(started.map(({ close }) => close()));
  return finish(found, MAX_SAMPLES);
}
