/**
 * `npm run test:chaos -- [--minutes N] [--runtime NAME] [--seed N]`: the chaos rounds of
 * `tests/chaos`, on every runtime unless one is named. Prints a line of JSON for each.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("../", import.meta.url));
const bin = (path: string): string => join(root, "node_modules", path);

const RUNTIMES: Readonly<Record<string, readonly string[]>> = {
  node22: [bin("node22/bin/node")],
  node24: [bin("node24/bin/node")],
  node26: [bin("node/bin/node")],
  deno: [bin(".bin/deno"), "run", "-A", "--quiet", "--no-lock"],
  bun: [bin(".bin/bun")],
};

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    runtime: { type: "string" },
    seed: { type: "string" },
  },
});
const minutes = Number(values.minutes);
const chosen = values.runtime === undefined ? Object.keys(RUNTIMES) : [values.runtime];
if (!(minutes > 0) || chosen.some((name) => !(name in RUNTIMES))) {
  console.error(`--minutes must be above 0, --runtime one of ${Object.keys(RUNTIMES).join(", ")}`);
  process.exit(2);
}
let isFailed = false;
for (const name of chosen) {
  const [file = "", ...args] = RUNTIMES[name]!;
  const script = ["tests/chaos/main.ts", "--seconds", String(60 * minutes)];
  if (values.seed !== undefined) script.push("--seed", values.seed);
  const { status, stdout, stderr } = spawnSync(file, [...args, ...script], {
    cwd: root,
    encoding: "utf8",
    timeout: 60_000 * minutes + 60_000,
    killSignal: "SIGKILL",
    maxBuffer: 2 ** 28,
  });
  const report = stdout.trim().split("\n").at(-1) ?? "";
  console.log(`${name}: ${report === "" ? `no report\n${stderr.slice(-2000)}` : report}`);
  if (status !== 0) isFailed = true;
}
process.exit(isFailed ? 1 : 0);
