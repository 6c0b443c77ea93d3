/**
 * Rounds of chaos on shared objects, one after the other, for a time: `node tests/shared-chaos/main.ts [--minutes N] [--seed N] [--only stir|travel]`.
 * Prints what they came to as JSON; ends with 1 if anything did not hold.
 */
import { parseArgs } from "node:util";
import { isMain } from "../../src/mod.ts";
import { collectGarbage } from "./deaths.ts";
import { chaosRound } from "./round.ts";
import { travelRound } from "./travel.ts";

const KINDS = { stir: chaosRound, travel: travelRound } as const;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "1" },
      only: { type: "string" },
      seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 30)) },
    },
  });
  const endMs = performance.now() + 60_000 * Number(values.minutes);
  const first = Number(values.seed);
  const faults: string[] = [];
  let [rounds, kills, late, operations] = [0, 0, 0, 0];
  process.on("unhandledRejection", (error) => faults.push(`unhandled rejection: ${String(error)}`));
  for (let seed = first; performance.now() < endMs && faults.length === 0; seed++) {
    for (const [name, run] of Object.entries(KINDS)) {
      if (values.only !== undefined && name !== values.only) continue;
      const report = await run(seed);
      rounds++;
      collectGarbage();
      kills += report.kills;
      late += report.late;
      operations += report.operations;
      for (const fault of report.faults) faults.push(`${name}, seed ${seed}: ${fault}`);
    }
  }
  const memoryMiB = Math.round(process.memoryUsage().rss / 2 ** 20);
  console.log(JSON.stringify({ seed: first, rounds, kills, late, operations, memoryMiB, faults }));
  process.exit(faults.length === 0 ? 0 : 1);
}

if (isMain) await main();
