/**
 * `npm run bench:ab -- COMMIT`: what the working copy makes slower or quicker than a commit. Builds both, measures
 * them in turn, and prints a table for each runtime. Exits with 1 if something is slower, and with 2 if there is no
 * answer. Progress goes to standard error.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build, buildCommit, resolveCommit } from "./ab/builds.ts";
import { CASES, COLD, COLD_PROCESSES } from "./ab/cases.ts";
import { type BuildChange, compareBuilds, type PairedRound, verdictOf } from "./ab/ratios.ts";
import { COMMIT, describeMachine } from "./harness/machine.ts";
import { table } from "./harness/markdown-table.ts";
import type { RoundFigure } from "./harness/schema.ts";
import { round } from "./harness/statistics.ts";
import { formatUs } from "./harness/units.ts";
import { runChild } from "./runner/child-process.ts";
import { log } from "./runner/terminal.ts";
import { RUNTIMES } from "./runner/runtimes.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const names = [...new Set(CASES.map(({ name }) => name))];

const ROUNDS = 10;
const MIN_ROUNDS = 3;
/** A process takes some 4 s. */
const CHILD_TIMEOUT_MS = 60_000;

const HELP =
  `npm run bench:ab -- COMMIT [--rounds N] [--runtime NAMES] [--only NAMES] [--quick] [--json FILE]

  COMMIT     what the working copy is compared with
  --rounds   processes of each build and runtime (default ${ROUNDS}, at least ${MIN_ROUNDS})
  --runtime  ${Object.keys(RUNTIMES).join(", ")}, with commas between them
  --only     ${names.join(", ")}, with commas between them
  --quick    ${MIN_ROUNDS} rounds of short cases, to try it out
  --json     a file for the samples of every process`;

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

interface Options {
  readonly commit: string;
  readonly rounds: number;
  readonly runtimes: readonly string[];
  readonly only: readonly string[];
  readonly isQuick: boolean;
  readonly json: string | undefined;
}

/** What the command line asks for; undefined: for help. */
function readOptions(): Options | undefined {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: "string" },
      runtime: { type: "string" },
      only: { type: "string" },
      quick: { type: "boolean", default: false },
      json: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const [commit, ...rest] = positionals;
  if (commit === undefined || rest.length > 0) throw new Error(HELP);
  const rounds = Number(values.rounds ?? (values.quick ? MIN_ROUNDS : ROUNDS));
  if (!Number.isInteger(rounds) || rounds < MIN_ROUNDS) {
    throw new Error(`--rounds must be an integer from ${MIN_ROUNDS} on; got ${values.rounds}`);
  }
  return {
    commit: resolveCommit(root, commit),
    rounds,
    runtimes: choose("runtime", values.runtime, Object.keys(RUNTIMES)),
    only: choose("only", values.only, names),
    isQuick: values.quick,
    json: values.json,
  };
}

type Folders = Readonly<Record<keyof PairedRound, string>>;

/** Figures of several processes as one each. */
function joinSamples(figures: readonly RoundFigure[]): RoundFigure[] {
  const joined = new Map<string, RoundFigure>();
  for (const each of figures) {
    const key = `${each.case} ${each.size}`;
    const samples = [...joined.get(key)?.samples ?? [], ...each.samples];
    joined.set(key, { ...each, samples, count: samples.length });
  }
  return [...joined.values()];
}

/** All rounds of a runtime. The build that goes first changes from round to round. */
async function measureRuntime(
  runtime: string,
  folders: Folders,
  { rounds, only, isQuick }: Options,
): Promise<PairedRound[]> {
  const warm = only.filter((name) => name !== COLD);
  const processes = [
    ...(warm.length > 0 ? [warm] : []),
    ...(only.includes(COLD) ? Array.from({ length: COLD_PROCESSES }, () => [COLD]) : []),
  ];
  const measureBuild = async (build: keyof PairedRound): Promise<RoundFigure[]> => {
    const command = [
      ...RUNTIMES[runtime]!.command,
      "benchmarks/ab/child.ts",
      `--root=${folders[build]}`,
      ...(isQuick ? ["--quick"] : []),
    ];
    try {
      const found: RoundFigure[] = [];
      for (const names of processes) {
        const child = [...command, `--only=${names}`];
        found.push(...await runChild(child, CHILD_TIMEOUT_MS, {}) as RoundFigure[]);
      }
      return joinSamples(found);
    } catch (error) {
      throw new Error(`${runtime}, ${build} build: ${(error as Error).message}`, { cause: error });
    }
  };
  const found: PairedRound[] = [];
  for (let number = 1; number <= rounds; number++) {
    log(`${runtime} round ${number}/${rounds}`);
    if (number % 2 === 1) {
      const old = await measureBuild("old");
      found.push({ old, new: await measureBuild("new") });
    } else {
      const newer = await measureBuild("new");
      found.push({ old: await measureBuild("old"), new: newer });
    }
  }
  return found;
}

/** Where calls are one at a time, of which length or how often. */
function atOnceOf({ case: name, size, calls }: BuildChange): string {
  if (calls !== undefined) return String(calls);
  return `1 ${name.startsWith("sporadic") ? "every" : "of"} ${formatUs(size)}`;
}

function toTable(changes: readonly BuildChange[]): string {
  const header = [
    "case",
    "calls at once",
    "old µs",
    "new µs",
    "ratio",
    "95 % interval",
    "mean ratio",
    "p99 ratio",
    "verdict",
  ];
  const rows = changes.map((change) => [
    change.case,
    atOnceOf(change),
    String(round(change.oldUs)),
    String(round(change.newUs)),
    change.ratio.toFixed(3),
    `${change.low.toFixed(3)}–${change.high.toFixed(3)}`,
    change.meanRatio.toFixed(3),
    change.p99Ratio.toFixed(3),
    verdictOf(change),
  ]);
  return table(header, rows).join("\n");
}

/** The exit code. */
async function main(): Promise<number> {
  const options = readOptions();
  if (options === undefined) {
    console.log(HELP);
    return 0;
  }
  const { commit, runtimes, json } = options;
  log("building");
  build(root);
  const folders = { old: buildCommit(root, commit), new: root };

  console.log(`old: ${commit.slice(0, COMMIT.split("+")[0]!.length)}, new: ${COMMIT}`);
  const found: Record<string, { version: string; rounds: PairedRound[] }> = {};
  const changes: BuildChange[] = [];
  for (const runtime of runtimes) {
    const { version } = RUNTIMES[runtime]!;
    const rounds = await measureRuntime(runtime, folders, options);
    found[runtime] = { version, rounds };
    const compared = compareBuilds(rounds);
    console.log(`\n## ${runtime} ${version}\n\n${toTable(compared)}`);
    changes.push(...compared);
  }
  if (json !== undefined) {
    const about = { old: commit, new: COMMIT, date: new Date().toISOString() };
    const result = { ...about, machine: describeMachine(), runtimes: found };
    const text = JSON.stringify(
      result,
      (key, value) => key === "samples" ? (value as number[]).map(round) : value as unknown,
    );
    writeFileSync(json, `${text}\n`);
  }
  const count = (verdict: string): number =>
    changes.filter((change) => verdictOf(change) === verdict).length;
  console.log(
    `\n${changes.length} compared: ${count("slower")} slower, ${count("quicker")} quicker. ` +
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
