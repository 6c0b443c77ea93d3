/**
 * Chaos rounds, one after the other, for a time: `node tests/chaos/main.ts [--minutes N] [--seed N]`.
 * Prints what they came to as JSON; ends with 1 if anything did not hold, or if threads were left behind.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { isMain } from "../../src/mod.ts";
import { AwakeCount } from "../../src/sync/awake-count.ts";
import { pause } from "../support/runtime.ts";
import { chaosRound } from "./round.ts";

/**
 * Worker threads of this process, by the names that runtimes give them, and the processor time they have had in
 * hundredths of a second; the runtimes' own helpers come and go. None where the system does not tell.
 */
function workerThreads(): string[] {
  const tasks = "/proc/self/task";
  if (!existsSync(tasks)) return [];
  return readdirSync(tasks)
    .map((task) => statusOf(`${tasks}/${task}/stat`).match(/\(((?:heddle|worker)-\d+)\) (.*)/))
    .filter((found) => found !== null)
    .map(([, name, figures = ""]) => `${name} (${figures[0]}, ${figures.split(" ")[11]})`);
}

/** Nothing for a thread that has ended since it was listed: it says nothing of the others. */
function statusOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** Time until the last thread has to be gone. */
const GONE_MS = 15_000;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "1" },
      seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 30)) },
    },
  });
  const endMs = performance.now() + 60_000 * Number(values.minutes);
  const first = Number(values.seed);
  const outcomes: Record<string, number> = {};
  const faults: string[] = [];
  let [rounds, calls, workersLost, exhausted, recycled] = [0, 0, 0, 0, 0];
  process.on("unhandledRejection", (error) => faults.push(`unhandled rejection: ${String(error)}`));
  for (let seed = first; performance.now() < endMs && faults.length === 0; seed++) {
    const report = await chaosRound(seed);
    rounds++;
    calls += report.calls;
    workersLost += report.workersLost;
    exhausted += report.exhausted;
    recycled += report.recycled;
    for (const [outcome, count] of Object.entries(report.outcomes)) {
      outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
    }
    for (const fault of report.faults) faults.push(`seed ${seed}: ${fault}`);
  }
  const lastMs = performance.now() + GONE_MS;
  while (workerThreads().length > 0 && performance.now() < lastMs) await pause(20);
  const left = workerThreads();
  await pause(500);
  if (left.length > 0) {
    faults.push(`threads are left: ${left.join(", ")}; later: ${workerThreads().join(", ")}`);
  }
  // A worker that was killed between two of its adds may have left it off by one.
  const awake = Atomics.load(new AwakeCount([AwakeCount.ofThread()], 1).words[0]!, 0);
  if (Math.abs(awake) > 1) faults.push(`${awake} workers count as awake`);
  const memoryMiB = Math.round(process.memoryUsage().rss / 2 ** 20);
  console.log(
    JSON.stringify({
      seed: first,
      rounds,
      calls,
      workersLost,
      exhausted,
      recycled,
      outcomes,
      memoryMiB,
      faults,
    }),
  );
  process.exit(faults.length === 0 ? 0 : 1);
}

if (isMain) await main();
