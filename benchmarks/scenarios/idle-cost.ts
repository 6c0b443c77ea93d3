/**
 * `idle-cost`: processor time of a pool of 4 with nothing to do, in percent of a core, and that of the
 * host's thread while it awaits tasks of 100 ms, one at a time.
 *
 * Idle counts all threads of the process; awaiting counts the host's thread alone, so that the busy
 * worker is left out.
 */
import { heddle } from "../contenders/heddle.ts";
import { rawWorker } from "../contenders/messages.ts";
import type { SpinCalls, SpinContender } from "../contenders/types.ts";
import { attempt, chooseContender, finish, readArguments } from "../harness/child.ts";
import { now, sleep, US_PER_MS } from "../harness/clock.ts";
import { checkClock } from "../harness/clock-check.ts";
import { checkThreadCpu, processCpuMs, threadCpuMs } from "../harness/cpu.ts";
import { AWAITING, IDLE } from "./idle-cases.ts";
import { takeLateness } from "./spin-lateness.ts";

const WORKERS = 4;
/** Every worker has done something before it is called idle. */
const WARM_UP_CALLS = 4 * WORKERS;
const WARM_UP_TASK_US = 1000;
/** What engines do after a start (compiling, collecting) is not what idleness costs. */
const SETTLE_MS = 300;
const IDLE_SECONDS = 10;
const QUICK_IDLE_SECONDS = 1;
const TASK_US = 100_000;
/** Several, so that reading the account is a hundredth of a percent and no more. */
const TASKS_PER_SAMPLE = 4;
const AWAITING_SAMPLES = 5;
const QUICK_AWAITING_SAMPLES = 1;

/** No worker at all: a timer on the host takes the time that a task would. What waiting itself costs. */
const noWorkers: SpinContender = {
  name: "no workers",
  start: () =>
    Promise.resolve({
      async spin(us) {
        const end = now() + us / US_PER_MS;
        // Timers may fire up to a millisecond early.
        while (now() < end) await sleep(Math.ceil(end - now()));
        return now();
      },
      close: () => Promise.resolve(),
    }),
};

/** Percent of a core that `cpuMs` says was used while `wait` went on. */
async function costOf(cpuMs: () => number, wait: () => Promise<unknown>): Promise<number> {
  const startedAt = now();
  const usedBefore = cpuMs();
  await wait();
  const used = cpuMs() - usedBefore;
  return 100 * used / (now() - startedAt);
}

/** One sample a second. */
async function measureIdle(seconds: number): Promise<number[]> {
  const samples: number[] = [];
  for (let n = 0; n < seconds; n++) samples.push(await costOf(processCpuMs, () => sleep(1000)));
  return samples;
}

async function measureAwaiting({ spin }: SpinCalls, count: number): Promise<number[]> {
  checkThreadCpu();
  await takeLateness(spin, TASK_US);
  const samples: number[] = [];
  const runTasks = async (): Promise<void> => {
    for (let n = 0; n < TASKS_PER_SAMPLE; n++) await takeLateness(spin, TASK_US);
  };
  for (let n = 0; n < count; n++) samples.push(await costOf(threadCpuMs, runTasks));
  return samples;
}

/** Runs one round of the contender named on the command line and prints its figures. */
export async function run(): Promise<never> {
  const { contender, isQuick } = readArguments();
  await checkClock();
  const calls = await chooseContender([heddle, rawWorker, noWorkers], contender).start(WORKERS);
  await Promise.all(Array.from({ length: WARM_UP_CALLS }, () => calls.spin(WARM_UP_TASK_US)));
  await sleep(SETTLE_MS);
  const idle = await attempt(
    { case: IDLE, size: WORKERS, unit: "%" },
    () => measureIdle(isQuick ? QUICK_IDLE_SECONDS : IDLE_SECONDS),
  );
  const awaiting = await attempt(
    { case: AWAITING, size: WORKERS, unit: "%" },
    () => measureAwaiting(calls, isQuick ? QUICK_AWAITING_SAMPLES : AWAITING_SAMPLES),
  );
  await calls.close();
  return finish([idle, awaiting]);
}
