/**
 * `npm run test:chaos -- [--minutes N] [--seed N] [--runtime NAME]` and `npm run test:leaks -- [--scale N]
 * [--only PART] [--runtime NAME]`, `npm run test:nats-chaos -- [--calls N] [--kills N] [--seed N] [--runtime NAME]`:
 * `npm run test:process-chaos -- [--calls N] [--kills N] [--seed N] [--other PROGRAM] [--runtime NAME]`:
 * `tests/chaos`, `tests/leaks`, `tests/nats-chaos` or `tests/process-chaos` on every runtime, unless one is named, one after the
 * other. Prints what they print: lines of JSON.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const bin = (path: string): string => join(root, "node_modules", path);

const RUNTIMES: Readonly<Record<string, readonly string[]>> = {
  node22: [bin("node22/bin/node"), "--expose-gc"],
  node24: [bin("node24/bin/node"), "--expose-gc"],
  node26: [bin("node/bin/node"), "--expose-gc"],
  deno: [bin(".bin/deno"), "run", "-A", "--quiet", "--no-lock", "--v8-flags=--expose-gc"],
  bun: [bin(".bin/bun")],
};
/** Nothing takes so long but what hangs. */
const MOST_MS = 60 * 60_000;

const [what = "", ...args] = process.argv.slice(2);
const at = args.indexOf("--runtime");
const [, named] = at < 0 ? [] : args.splice(at, 2);
const chosen = at < 0 ? Object.keys(RUNTIMES) : [named ?? ""];
if (
  !["chaos", "leaks", "nats-chaos", "process-chaos", "shared-chaos"].includes(what) ||
  chosen.some((name) => !(name in RUNTIMES))
) {
  console.error(
    `chaos, leaks, nats-chaos, process-chaos or shared-chaos, and --runtime one of ${
      Object.keys(RUNTIMES).join(", ")
    }`,
  );
  process.exit(2);
}
let isFailed = false;
for (const name of chosen) {
  const [file = "", ...flags] = RUNTIMES[name]!;
  console.error(`${what} on ${name}`);
  const { status, stderr } = spawnSync(file, [...flags, `tests/${what}/main.ts`, ...args], {
    cwd: root,
    encoding: "utf8",
    // Deno prints what its workers throw.
    stdio: ["ignore", "inherit", "pipe"],
    timeout: MOST_MS,
    killSignal: "SIGKILL",
    maxBuffer: 2 ** 28,
  });
  if (status === 0) continue;
  isFailed = true;
  console.error(`${name} ended with ${status}:\n${stderr.slice(-2000)}`);
}
process.exit(isFailed ? 1 : 0);
