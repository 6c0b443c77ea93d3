/**
 * Chaos rounds, one after the other, for a time: `node tests/chaos/main.ts [--seconds N] [--seed N]`.
 * Prints what they came to as JSON; ends with 1 if anything did not hold, or if threads were left behind.
 */
import { readdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { isMain } from "../../src/mod.ts";
import { pause } from "../support/runtime.ts";
import { chaosRound } from "./round.ts";

/** Threads of this process; undefined where the system does not tell. */
function countThreads(): number | undefined {
  try {
    return readdirSync("/proc/self/task").length;
  } catch {
    return undefined;
  }
}

/** Threads that a runtime may keep for itself from one round to the next. */
const SPARE_THREADS = 4;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seconds: { type: "string", default: "60" },
      seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 30)) },
    },
  });
  const endMs = performance.now() + 1000 * Number(values.seconds);
  const first = Number(values.seed);
  const outcomes: Record<string, number> = {};
  const faults: string[] = [];
  let [rounds, calls, workersLost] = [0, 0, 0];
  let threadsAfterFirst: number | undefined;
  process.on("unhandledRejection", (error) => faults.push(`unhandled rejection: ${String(error)}`));
  for (let seed = first; performance.now() < endMs && faults.length === 0; seed++) {
    const report = await chaosRound(seed);
    rounds++;
    calls += report.calls;
    workersLost += report.workersLost;
    for (const [outcome, count] of Object.entries(report.outcomes)) {
      outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
    }
    for (const fault of report.faults) faults.push(`seed ${seed}: ${fault}`);
    if (rounds === 20) {
      await pause(200);
      threadsAfterFirst = countThreads();
    }
  }
  await pause(500);
  const threads = countThreads();
  if (threads !== undefined && threads > (threadsAfterFirst ?? threads) + SPARE_THREADS) {
    faults.push(`${threads} threads are left, after 20 rounds there were ${threadsAfterFirst}`);
  }
  const memoryMiB = Math.round(process.memoryUsage().rss / 2 ** 20);
  console.log(
    JSON.stringify({
      seed: first,
      rounds,
      calls,
      workersLost,
      outcomes,
      threads,
      memoryMiB,
      faults,
    }),
  );
  process.exit(faults.length === 0 ? 0 : 1);
}

if (isMain) await main();
