/**
 * `contended`: one worker where there is not a core for every thread: a process that computes beside, or all threads
 * on one core, which the command line sees to. Calls one after the other and one every 3 ms, each timed by itself, and
 * 20 at once; processor time of the whole process for each call.
 */
import type { Echo } from "../contenders/echo-contender.ts";
import type { OneWorkerContender } from "../contenders/one-worker.ts";
import { startBusyProcess } from "../harness/busy-process.ts";
import { chooseContender, finish, readArguments, type RoundSamples } from "../harness/child.ts";
import { sleep, US_PER_MS } from "../harness/clock.ts";
import { processCpuMs } from "../harness/cpu.ts";
import { createRun, type NumberCall } from "./call-batches.ts";
import { AT_ONCE, BUSY, caseOf, cpuOf, EVERY, EVERY_MS, SIZES } from "./contended-cases.ts";
import { warmUp } from "./warm-up.ts";

/** The whole time is measured: the system's scheduler moves threads every few milliseconds. */
const FIGURE_MS = 1200;
const QUICK_FIGURE_MS = 100;
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
  ms: number,
): Promise<Timed> {
  const samples: number[] = [];
  const cpuBeforeMs = processCpuMs();
  const endMs = performance.now() + ms;
  while (performance.now() < endMs) {
    if (pauseMs > 0) await sleep(pauseMs);
    const startedMs = performance.now();
    await run();
    samples.push((performance.now() - startedMs) * US_PER_MS);
  }
  return { samples, cpuUs: (processCpuMs() - cpuBeforeMs) * US_PER_MS / samples.length };
}

async function measure(echo: Echo, placement: string, ms: number): Promise<RoundSamples[]> {
  const one = { sequential: 1, isEcho: true } as const;
  const found: RoundSamples[] = [];
  const add = (name: string, size: number, { samples, cpuUs }: Timed): void => {
    const place = { size, unit: "µs" } as const;
    const named = caseOf(placement, name);
    found.push({ ...place, case: named, calls: size, hasTail: true, samples });
    found.push({ ...place, case: cpuOf(named), samples: [cpuUs / size] });
  };
  for (const size of SIZES) {
    const run = createRun(echo as NumberCall, { ...one, size });
    add(AT_ONCE, size, await timeRuns(run, 0, ms));
  }
  const run = createRun(echo as NumberCall, { ...one, size: 1 });
  add(EVERY, 1, await timeRuns(run, EVERY_MS, ms));
  return found;
}

/** Runs one round of the contender named on the command line and prints its figures. */
export async function runContended(contenders: readonly OneWorkerContender[]): Promise<never> {
  const { contender: name, isQuick, variant: placement } = readArguments();
  const library = await chooseContender(contenders, name).load();
  const { echo, close } = library.start();
  await warmUp(echo, isQuick);
  const endBusyProcess = placement === BUSY ? await startBusyProcess() : () => {};
  const found = await measure(echo, placement, isQuick ? QUICK_FIGURE_MS : FIGURE_MS);
  endBusyProcess();
  await close();
  return finish(found.map((each) => ({ ...each, contender: name })), MAX_SAMPLES);
}
