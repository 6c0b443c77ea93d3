/**
 * Pools of processes that are killed at random points: `node tests/process-chaos/main.ts [--calls N] [--kills N] [--seed N]
 * [--other PROGRAM]`. Each call settles once, with its own value or with WorkerLostError; a lost one had begun (but one for
 * each death, which its worker had taken), and none begins twice.
 * Prints what it came to as JSON; ends with 1 if anything did not hold.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { createPool, WorkerLostError } from "../../src/mod.ts";
import { createRandom, upTo } from "../support/random.ts";

const { values: given } = parseArgs({
  options: {
    calls: { type: "string", default: "100000" },
    kills: { type: "string", default: "300" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 30)) },
    other: { type: "string" },
  },
});
const [calls, kills, seed] = [given.calls, given.kills, given.seed].map(Number) as [
  number,
  number,
  number,
];
const random = createRandom(seed);
const folder = mkdtempSync(join(tmpdir(), "heddle-chaos-"));
const log = join(folder, "begun");
writeFileSync(log, "");

const pool = createPool({
  threads: 2,
  workers: "processes",
  worker: { env: { ...process.env as Record<string, string>, HEDDLE_TEST_LOG: log } },
  ...(given.other !== undefined && { process: { execPath: given.other } }),
})<typeof import("./tasks.ts")>(new URL("./tasks.ts", import.meta.url));
pool.addEventListener("workerExit", (event) => event.preventDefault());

const faults: string[] = [];
const lost: number[] = [];
let [settled, right, killed] = [0, 0, 0];
process.on("unhandledRejection", (error) => faults.push(`unhandled rejection: ${String(error)}`));

const large = "x".repeat(300_000);
const valueOf = (call: number): unknown =>
  call % 97 === 0 ? `${large}${call}` : call % 3 === 0 ? { call, list: [call] } : call;

async function check(call: number, made: Promise<unknown>): Promise<void> {
  let hasSettled = false;
  await made.then((value) => {
    if (JSON.stringify(value) === JSON.stringify(valueOf(call))) right++;
    else faults.push(`call ${call} got another value`);
  }, (error: unknown) => {
    if (error instanceof WorkerLostError) lost.push(call);
    else faults.push(`call ${call}: ${String(error)}`);
  }).finally(() => {
    if (hasSettled) faults.push(`call ${call} settled twice`);
    hasSettled = true;
  });
  settled++;
}

/** Kills a worker from outside, from within, or while it starts. */
async function kill(): Promise<void> {
  killed++;
  const how = upTo(random, 5);
  if (how <= 1) {
    const pid = await pool.call.pid().catch(() => 0);
    if (pid === 0) return;
    if (how === 1) process.kill(pid, "SIGSTOP");
    process.kill(pid, "SIGKILL");
    return;
  }
  const call = calls + killed;
  await pool.call.end(call, ["exit", "abort", "SIGKILL", "SIGTERM"][how - 2]!).catch(() => {});
}

const killEvery = Math.max(1, Math.floor(calls / kills));
for (let call = 0; call < calls;) {
  const batch: Promise<unknown>[] = [];
  for (const most = Math.min(calls, call + 1 + upTo(random, 400)); call < most; call++) {
    if (call % killEvery === 0) batch.push(kill());
    const run = call % 5 === 0 ? pool.call.runLater : pool.call.run;
    batch.push(check(call, run(call, valueOf(call))));
  }
  await Promise.all(batch);
}
const { workersLost } = pool.stats();
await pool.shutdown();

const begun = new Map<number, number>();
const bytes = readFileSync(log);
for (
  const call of new Float64Array(
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
  )
) {
  begun.set(call, (begun.get(call) ?? 0) + 1);
}
const twice = [...begun].filter(([call, count]) => count > 1 && call < calls).map(([call]) => call);
const never = lost.filter((call) => !begun.has(call));
if (settled !== calls) faults.push(`${settled} of ${calls} settled`);
if (twice.length > 0) faults.push(`${twice} began twice`);
// A worker may end between a call that it has taken and the first line of its task.
if (never.length > workersLost) faults.push(`${never} of ${lost.length} lost calls had not begun`);
rmSync(folder, { recursive: true });
console.log(JSON.stringify({ seed, calls, killed, workersLost, right, lost: lost.length, faults }));
process.exit(faults.length === 0 ? 0 : 1);
