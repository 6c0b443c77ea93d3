/**
 * One process of `bench:ab`: measures the build in `dist/` of the folder that `--root` names, with one worker, and
 * prints its figures.
 */
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import type * as Heddle from "../../dist/mod.js";
import { checkClock } from "../harness/clock-check.ts";
import { finish, type RoundSamples } from "../harness/child.ts";
import { VARIANTS } from "../payloads/payload.ts";
import type { Echo } from "../contenders/echo-contender.ts";
import { measureEcho } from "../scenarios/echo.ts";
import { callInTurn } from "../scenarios/paced-calls.ts";
import { takeLatenessSamples } from "../scenarios/spin-lateness.ts";
import { type Case, CASES, COLD } from "./cases.ts";
import { measureCold } from "./cold.ts";
import type * as tasks from "./tasks.ts";

/** Calls one after the other in one sample at batch 1: the clock is too coarse for one. */
const SEQUENTIAL_CALLS = 16;

const { values } = parseArgs({
  options: {
    root: { type: "string", default: "." },
    only: { type: "string", default: "" },
    quick: { type: "boolean", default: false },
  },
});
const only = values.only.split(",");
const chosen = CASES.filter(({ name }) => only.includes(name));
const budget = { seconds: values.quick ? 0.05 : 0.1, minSamples: 20 };

const build = pathToFileURL(path.join(values.root, "dist/mod.js")).href;
// Nothing else has run in the process then.
if (values.only === COLD) await finish(await measureCold(build));

const { createPool, importTask } = await import(build) as typeof Heddle;
const href = new URL("tasks.ts", import.meta.url);
const pool = createPool({ threads: 1 })({
  echo: importTask<typeof tasks.echo>({ href, name: "echo" }),
  add: importTask<typeof tasks.add>({ href, name: "add" }),
  spin: importTask<typeof tasks.spin>({ href, name: "spin" }),
});
await pool.ready;
const { call } = pool;

if (chosen.some(({ task }) => task === "spin")) await checkClock();
const found: RoundSamples[] = [];

/** Adds the figures of a case. */
async function measureCase(each: Case): Promise<void> {
  if (each.task === "cold") return;
  if (each.task === "spin") {
    const samples = values.quick ? each.quickSamples : each.samples;
    found.push({
      case: each.name,
      size: each.us,
      unit: "µs",
      samples: await takeLatenessSamples(call.spin, each.us, samples),
    });
    return;
  }
  if (each.task === "sporadic") {
    const count = values.quick ? each.quickSamples : each.samples;
    const pace = { gapUs: each.gapUs, isPoisson: false, turns: 1, calls: count };
    const [paced] = await callInTurn([{ name: each.name, echo: call.echo as Echo }], pace);
    const place = { size: each.gapUs, unit: "µs" } as const;
    found.push({ ...place, case: each.name, samples: paced!.latencies });
    found.push({ ...place, case: `${each.name}, processor time`, samples: paced!.cpuBlocks });
    return;
  }
  const { kind, batches } = each;
  const send = each.task === "add" ? () => call.add(1, 2) : call.echo;
  for (const batch of batches) {
    const place = { case: each.name, size: batch };
    const variants = kind.variants ?? VARIANTS;
    const run = { ...place, kind, batch, sequentialCalls: SEQUENTIAL_CALLS, variants };
    const samples = await measureEcho(send, run, budget, found.length === 0);
    found.push({ ...place, calls: batch, unit: "µs", samples });
  }
}

for (const each of chosen) await measureCase(each);
await pool.shutdown();
await finish(found);
