/**
 * `npm run bench:compare -- BASE [AFTER]`: what got slower by more than 5 % from one result set to another.
 * BASE and AFTER are folders like `results/`, or commits that have one; AFTER is `results/` if left out.
 * Prints a table to standard output; exits with 1 if something of heddle's is slower.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Change, compareResults, isQuicker, isSlower } from "./harness/comparison.ts";
import { table } from "./harness/markdown-table.ts";
import type { ScenarioResult } from "./harness/schema.ts";

const root = fileURLToPath(new URL("../", import.meta.url));

const HELP = `npm run bench:compare -- BASE [AFTER] [--all] [--contender NAME]

  BASE, AFTER   folders like results/, or commits that have one (AFTER: results/ if left out)
  --all         every measurement, not those alone that changed
  --contender   only this one; names that begin with it are its own, too (default: heddle)`;

/** Results by `runtime/scenario`. */
type ResultSet = ReadonlyMap<string, ScenarioResult>;

const isResult = (file: string): boolean => /^[^/]+\/[^/]+\.json$/.test(file);

function readFolder(folder: string): ResultSet {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll(path.sep, "/")).filter(isResult);
  return new Map(
    files.map((file) => [file, JSON.parse(readFileSync(path.join(folder, file), "utf8"))]),
  );
}

function readCommit(commit: string): ResultSet {
  const git = (...args: readonly string[]): string =>
    execFileSync("git", args, {
      cwd: root,
      encoding: "utf8",
      maxBuffer: 1 << 28,
      stdio: ["ignore", "pipe", "ignore"],
    });
  const files = git("ls-tree", "-r", "--name-only", commit, "results/").trim().split("\n")
    .map((file) => file.slice("results/".length)).filter(isResult);
  return new Map(files.map((file) => [file, JSON.parse(git("show", `${commit}:results/${file}`))]));
}

function readSet(name: string): ResultSet {
  if (existsSync(name) && statSync(name).isDirectory()) return readFolder(name);
  try {
    return readCommit(name);
  } catch {
    console.error(`${name} is neither a folder nor a commit with results/`);
    process.exit(2);
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: "boolean", default: false },
    contender: { type: "string", default: "heddle" },
    help: { type: "boolean", default: false },
  },
});
const [base, after = `${root}results`, ...rest] = positionals;
if (values.help || base === undefined || rest.length > 0) {
  console.error(HELP);
  process.exit(values.help ? 0 : 2);
}

const before = readSet(base);
const changes: Change[] = [...readSet(after)].flatMap(([file, result]) => {
  const old = before.get(file);
  if (old === undefined) {
    console.error(`not compared, not in ${base}: ${file}`);
    return [];
  }
  for (const each of [old, result]) {
    if (each.reference?.isBusy === true) {
      console.error(`measured on a busy machine: ${file} of ${each.date}`);
    }
  }
  return compareResults(old, result);
});

/** Scenarios with one contender name its workers or threads instead. */
const isNeeded = ({ contender, scenario }: Change): boolean =>
  contender.startsWith(values.contender) ||
  (values.contender === "heddle" && ["thread-sweep", "fan-out", "mixed-load"].includes(scenario) &&
    !contender.startsWith("Knitting")) ||
  (values.contender === "heddle" && scenario === "heavy-load" && /^main \+ \d+$/.test(contender));

const asked = changes.filter(isNeeded);
const slower = asked.filter(isSlower);
const quicker = asked.filter(isQuicker);
const shown = values.all ? asked : [...slower, ...quicker];
console.log(
  table(
    ["scenario", "what", "before", "after", "ratio", "95 % interval", ""],
    shown.map((change) => [
      `${change.scenario}, ${change.runtime}`,
      `${change.contender}, ${change.case}, ${change.size}`,
      `${change.before} ${change.unit}`,
      `${change.after} ${change.unit}`,
      change.ratio.toFixed(2),
      `${change.low.toFixed(2)}–${change.high.toFixed(2)}`,
      isSlower(change) ? "slower" : isQuicker(change) ? "quicker" : "",
    ]),
  ).join("\n"),
);
console.log(
  `\n${asked.length} compared: ${slower.length} slower by more than 5 %, ${quicker.length} quicker.`,
);
process.exit(slower.length > 0 ? 1 : 0);
