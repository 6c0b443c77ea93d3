/**
 * Explores thread schedules of real code: the roles of a scenario run in real threads, but one atomic
 * operation at a time, in every order that a bounded number of preemptions allows.
 *
 * A schedule is a list of choices; each run replays a prefix and goes on with the first choice. With
 * no runnable thread and not all finished, a wake-up was lost: that schedule is reported.
 */
import { Worker } from "node:worker_threads";
import * as protocol from "./lockstep-protocol.ts";
import { scenarios } from "./scenarios.ts";

const { wordOf, STATE, TURN, OUTCOME } = protocol;

export interface Exploration {
  readonly schedules: number;
  /** First schedule that went wrong, and how. */
  readonly failure: string | undefined;
}

interface Choice {
  readonly thread: number;
  readonly timesOut: boolean;
  readonly preempts: boolean;
}

const WATCHDOG_MS = 20_000;

/** The schedule of the last run, one line per stretch of one thread: operations with addresses. */
function describeSteps(control: Int32Array<SharedArrayBuffer>): string[] {
  const lines: string[] = [];
  let last = -1;
  for (let step = 0; step < Atomics.load(control, protocol.STEPS); step++) {
    const [thread, operation, address] = control.subarray(protocol.STEPS + 1 + 3 * step);
    if (thread !== last) lines.push(`thread ${thread}:`);
    last = thread!;
    lines[lines.length - 1] += ` ${protocol.OPERATIONS[operation!]}@${address}`;
  }
  return lines;
}

export async function explore(
  name: string,
  preemptionBound: number,
  maxSchedules = 200_000,
): Promise<Exploration> {
  const scenario = scenarios[name]!;
  const threads = scenario.threads.length;
  const control = new Int32Array(new SharedArrayBuffer(4 * protocol.CONTROL_WORDS));
  const memory = new SharedArrayBuffer(scenario.bytes);
  const workers = scenario.threads.map((_, thread) =>
    new Worker(new URL("./lockstep-thread.ts", import.meta.url), {
      workerData: { control, memory, thread, threads, scenario: name },
    })
  );
  const errors: string[] = [];
  for (const worker of workers) {
    worker.on("message", (message) => errors.push(String(message)));
    worker.on("error", (error) => errors.push(String((error as Error).stack)));
  }
  await Promise.all(
    workers.map((worker) => new Promise((resolve) => worker.once("online", resolve))),
  );

  const prefix: number[] = [];
  let schedules = 0;
  let failure: string | undefined;
  while (schedules < maxSchedules) {
    schedules++;
    const taken: { options: Choice[]; chosen: number }[] = [];
    const outcome = runOnce(prefix, taken);
    if (outcome !== undefined) {
      await new Promise((resolve) => setTimeout(resolve, 50)); // lets an error message arrive
      failure = [outcome, ...describeSteps(control), ...errors].join("\n");
      break;
    }
    while (taken.length > 0 && taken.at(-1)!.chosen + 1 >= taken.at(-1)!.options.length) {
      taken.pop();
    }
    if (taken.length === 0) break;
    prefix.length = 0;
    for (const { chosen } of taken) prefix.push(chosen);
    prefix[prefix.length - 1]!++;
  }
  await Promise.all(workers.map((worker) => worker.terminate()));
  return { schedules, failure };

  /** Runs one schedule. Undefined if all went well. */
  function runOnce(
    choices: readonly number[],
    taken: { options: Choice[]; chosen: number }[],
  ): string | undefined {
    new Int32Array(memory).fill(0);
    scenario.reset(memory);
    for (let thread = 0; thread < threads; thread++) {
      Atomics.store(control, wordOf(thread, STATE), protocol.RUNNING);
    }
    Atomics.store(control, protocol.STEPS, 0);
    Atomics.add(control, protocol.RUN, 1);
    Atomics.notify(control, protocol.RUN);
    let current = -1;
    let preemptions = 0;
    const pausedAt = new Array<number>(threads).fill(-1);
    for (let step = 0; step < protocol.MAX_STEPS; step++) {
      // First let the one that runs settle: it may change the state of others (notify).
      for (let thread = 0; thread < threads; thread++) waitUntilSettled(thread);
      const states = scenario.threads.map((_, thread) => {
        return Atomics.load(control, wordOf(thread, STATE));
      });
      if (states.includes(protocol.FAILED)) return "a thread failed";
      if (states.every((state) => state === protocol.FINISHED)) {
        return scenario.check(memory);
      }
      for (const [thread, state] of states.entries()) {
        if (state === protocol.PAUSED && pausedAt[thread] === -1) pausedAt[thread] = step;
        if (state !== protocol.PAUSED) pausedAt[thread] = -1;
      }
      const options: Choice[] = [];
      const offer = (thread: number, timesOut: boolean) => {
        const preempts = current !== -1 && thread !== current && isRunnable(current);
        if (preempts && preemptions >= preemptionBound) return;
        options.push({ thread, timesOut, preempts });
      };
      const isRunnable = (thread: number): boolean => {
        const state = states[thread]!;
        return state === protocol.AT_STEP || state === protocol.WOKEN ||
          (state === protocol.PAUSED && pausedAt[thread]! < step);
      };
      const order = [...states.keys()].sort((a, b) =>
        Number(b === current) - Number(a === current)
      );
      for (const thread of order) if (isRunnable(thread)) offer(thread, false);
      for (const thread of order) {
        if (states[thread] === protocol.BLOCKED_WITH_TIMEOUT) offer(thread, true);
      }
      if (options.length === 0) {
        return states.includes(protocol.PAUSED)
          ? "lost: one spins forever"
          : "lost: nobody can go on";
      }
      const chosen = choices[step] ?? 0;
      taken.push({ options, chosen });
      const choice = options[chosen]!;
      if (choice.preempts) preemptions++;
      current = choice.thread;
      if (choice.timesOut) Atomics.store(control, wordOf(current, OUTCOME), protocol.TIMED_OUT);
      Atomics.store(control, wordOf(current, STATE), protocol.RUNNING);
      Atomics.add(control, wordOf(current, TURN), 1);
      Atomics.notify(control, wordOf(current, TURN));
    }
    return `no end after ${protocol.MAX_STEPS} steps`;
  }

  /** Waits until the thread is not between two steps. */
  function waitUntilSettled(thread: number): void {
    const deadline = performance.now() + WATCHDOG_MS;
    for (;;) {
      const state = Atomics.load(control, wordOf(thread, STATE));
      if (state !== protocol.RUNNING) return;
      Atomics.wait(control, wordOf(thread, STATE), protocol.RUNNING, 100);
      if (performance.now() > deadline) throw new Error(`Thread ${thread} is stuck in a step.`);
    }
  }
}
