/**
 * `latency`: one caller, one worker, or as many as the command line says. How long until 1, 10, 100 or 1000 calls made at once are all
 * answered: an f64 echoed, a void call, and a void call of an async task.
 *
 * Batch 1 is timed over 500 calls one after the other and divided by 500, as the clock is too coarse
 * for one. Every answer is checked. Contenders alternate in processes of their own: the threads of the floor never sleep.
 */
import { floor } from "../contenders/floor.ts";
import { heddleKnitting } from "../contenders/heddle-knitting.ts";
import { heddle } from "../contenders/heddle.ts";
import { knitting } from "../contenders/knitting.ts";
import { postMessage } from "../contenders/messages.ts";
import { piscina } from "../contenders/one-worker.ts";
import { chooseContender, finish, readArguments, type RoundSamples } from "../harness/child.ts";
import { takeSamples } from "../harness/timing.ts";
import { createRun, type NumberCall, toBatchUs } from "./call-batches.ts";

const CONTENDERS = [heddle, heddleKnitting, knitting, floor, postMessage, piscina];
const BATCHES = [1, 10, 100, 1000] as const;
const CASES = ["f64 echo", "void call", "async void call"] as const;

/** Sequential calls per sample at batch 1. */
const SEQUENTIAL_CALLS = 500;

/** Runs one round of the contender named on the command line and prints its figures. */
export async function run(): Promise<void> {
  const { contender: name, isQuick, threads } = readArguments();
  const calls = await chooseContender(CONTENDERS, name).start(Math.max(1, threads));
  const budget = isQuick ? { seconds: 0.02, minSamples: 4 } : { seconds: 0.1, minSamples: 20 };
  const figures: RoundSamples[] = [];
  for (const [index, each] of [calls.echo, calls.nothing, calls.asyncNothing].entries()) {
    if (each === undefined) continue;
    for (const size of BATCHES) {
      const batch = { size, sequential: SEQUENTIAL_CALLS, isEcho: index === 0 };
      const samples = await takeSamples(createRun(each as NumberCall, batch), budget);
      figures.push({ case: CASES[index]!, size, unit: "µs", samples: toBatchUs(samples, batch) });
    }
  }
  await calls.close();
  await finish(figures);
}
