/**
 * `npm run bench:ab -- COMMIT`: what the working copy makes slower or quicker than a commit. Builds both, measures
 * them in turn, and prints a table for each runtime. Exits with 1 if something is slower, and with 2 if there is no
 * answer. Progress goes to standard error.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build, buildCommit, resolveCommit } from "./ab/builds.ts";
import { type Change, changesOf, NEW, OLD, verdictOf } from "./ab/changes.ts";
import { COMMIT, describeMachine } from "./harness/machine.ts";
import { table } from "./harness/markdown-table.ts";
import type { RoundFigure, RoundLine } from "./harness/schema.ts";
import { round } from "./harness/statistics.ts";
import { runProcess } from "./harness/processes.ts";
import { RUNTIMES } from "./runner/runtimes.ts";
import { log } from "./runner/terminal.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const COLD = "cold";
const NAMES = ["f64", "add", "string", "object", "bytes", "lateness", "sporadic", COLD];
/** Pairs of fresh processes. */
const COLD_ROUNDS = 15;
const QUICK_COLD_ROUNDS = 5;
const CHILD_TIMEOUT_MS = 300_000;

const HELP = `npm run bench:ab -- COMMIT [--runtime NAMES] [--only NAMES] [--quick] [--json FILE]

  COMMIT     what the working copy is compared with
  --runtime  ${Object.keys(RUNTIMES).join(", ")}, with commas between them
  --only     ${NAMES.join(", ")}, with commas between them
  --quick    a few blocks, to try it out
  --json     a file for all samples`;

const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** The values of an option that takes some of the `known` names: all of them if it is left out. */
function choose(option: string, given: string | undefined, known: readonly string[]): string[] {
  const chosen = given?.split(",") ?? known;
  const unknown = chosen.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new Error(`--${option} may name ${known.join(", ")}; got ${unknown}`);
  }
  return known.filter((name) => chosen.includes(name));
}

/** All figures of a runtime: one process for what is warm, and pairs of processes for what is cold. */
async function measureRuntime(
  runtime: string,
  old: string,
  only: readonly string[],
  isQuick: boolean,
): Promise<RoundFigure[]> {
  const found: RoundFigure[] = [];
  const run = async (...args: readonly string[]): Promise<void> => {
    const builds = [`--old=${old}/dist/mod.js`, `--new=${root}dist/mod.js`];
    const command = [...RUNTIMES[runtime]!.command, "benchmarks/ab/child.ts", ...builds, ...args];
    for (const line of await runProcess<RoundLine[]>(command, { timeoutMs: CHILD_TIMEOUT_MS })) {
      if ("reason" in line) throw new Error(`${runtime}, ${line.contender}: ${line.reason}`);
      found.push(line);
    }
  };
  const warm = only.filter((name) => name !== COLD);
  if (warm.length > 0) await run(`--only=${warm}`, ...(isQuick ? ["--quick"] : []));
  const rounds = only.includes(COLD) ? (isQuick ? QUICK_COLD_ROUNDS : COLD_ROUNDS) : 0;
  for (let number = 0; number < rounds; number++) {
    for (const each of number % 2 === 0 ? [OLD, NEW] : [NEW, OLD]) await run(`--cold=${each}`);
  }
  return found;
}

const toTable = (changes: readonly Change[]): string =>
  table(
    ["case", "", "old µs", "new µs", "ratio", "95 % interval", "p99 ratio"],
    changes.map((change) => [
      change.case,
      verdictOf(change),
      String(round(change.oldUs)),
      String(round(change.newUs)),
      change.ratio.toFixed(3),
      `${change.low.toFixed(3)}–${change.high.toFixed(3)}`,
      change.p99Ratio.toFixed(3),
    ]),
  ).join("\n");

/** The exit code. */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      runtime: { type: "string" },
      only: { type: "string" },
      quick: { type: "boolean", default: false },
      json: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const [named, ...rest] = positionals;
  if (values.help) return console.log(HELP), 0;
  if (named === undefined || rest.length > 0) throw new Error(HELP);
  const commit = resolveCommit(root, named);
  const runtimes = choose("runtime", values.runtime, Object.keys(RUNTIMES));
  const only = choose("only", values.only, NAMES);
  log("building");
  build(root);
  const old = buildCommit(root, commit);

  console.log(`old: ${commit.slice(0, COMMIT.split("+")[0]!.length)}, new: ${COMMIT}`);
  const found: Record<string, RoundFigure[]> = {};
  const verdicts: string[] = [];
  for (const runtime of runtimes) {
    log(runtime);
    found[runtime] = await measureRuntime(runtime, old, only, values.quick);
    const changes = changesOf(found[runtime]);
    verdicts.push(...changes.map(verdictOf));
    console.log(`\n## ${runtime} ${RUNTIMES[runtime]!.version}\n\n${toTable(changes)}`);
  }
  if (values.json !== undefined) {
    const about = { old: commit, new: COMMIT, date: new Date().toISOString() };
    writeFileSync(values.json, JSON.stringify({ ...about, machine: describeMachine(), found }));
  }
  const count = (verdict: string): number => verdicts.filter((each) => each === verdict).length;
  console.log(
    `\n${verdicts.length} compared: ${count("slower")} slower, ${count("quicker")} quicker. ` +
      "Only what two runs call slower counts as slower.",
  );
  return count("slower") > 0 ? 1 : 0;
}

// Without a handler no "exit" event follows, on which the worktree is removed.
for (const [signal, code] of Object.entries(SIGNALS)) process.on(signal, () => process.exit(code));
try {
  process.exitCode = await main();
} catch (error) {
  log((error as Error).message);
  process.exitCode = 2;
}
