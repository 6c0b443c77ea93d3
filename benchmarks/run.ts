/**
 * Runs the benchmarks: one process at a time, results under `results/<runtime>/`, then the charts.
 * Called by `run.sh`, on the project's own Node. Progress goes to standard error.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { renderGraphs } from "../graphs/render.ts";
import { versionOf } from "./harness/machine.ts";
import { toMarkdown } from "./harness/markdown.ts";
import type { ScenarioResult } from "./harness/schema.ts";
import { ReferenceSpin } from "./runner/busy.ts";
import { KNITTING } from "./contenders/names.ts";
import { SCENARIOS } from "./runner/catalogue.ts";
import { countFailed, measure, roundsOf, type Run } from "./runner/measure.ts";
import { describePlan, expectedSeconds, formatDuration, Progress } from "./runner/progress.ts";
import { reportOf, speedUpOf, summaryOf } from "./runner/summary.ts";
import { isTerminal, log } from "./runner/terminal.ts";
import { RUNTIMES, startedOn } from "./runner/runtimes.ts";
import { type Choices, SCRIPTS } from "./runner/scenario.ts";
import { hasCargo, tokioRun } from "./runner/tokio.ts";

const root = fileURLToPath(new URL("../", import.meta.url));

/** Where figures of machines with many cores are wanted. */
const ISSUES = "https://github.com/heddle-js/heddle/issues";

const HELP = `./run.sh [--json] [--quick] [--only NAMES] [--runtime NAMES] [--threads N]
         [--peer knitting=PATH] [--soak-minutes N] [--delay-ms N] [--out DIR] [--list]

  --json          print each result on stdout too, a line of JSON each
  --quick         primes over the cores, and hot, sporadic and cold calls, with fewer rounds;
                  results and charts go to quick/
  --only          scenarios, with commas between them (--list names them)
  --runtime       node, deno, bun, native, tokio, with commas between them
  --threads       heavy-load: workers beside the main thread, up to this many (default: the cores)
  --peer          knitting=PATH: a checkout of Knitting, measured beside heddle
  --soak-minutes  how long soak and http-soak take (default 10); they run only when --only names them
  --delay-ms      concurrency: how long its server waits before it answers (default 1000, quick 50)
  --out           a folder for results/ and graphs/ instead of this one
  --list          what there is to measure, one line each`;

function fail(message: string): never {
  log(message);
  process.exit(2);
}

const { values } = parseArgs({
  options: {
    "json": { type: "boolean", default: false },
    "quick": { type: "boolean", default: false },
    "only": { type: "string" },
    "out": { type: "string" },
    "runtime": { type: "string" },
    "threads": { type: "string" },
    "peer": { type: "string", multiple: true, default: [] },
    "soak-minutes": { type: "string", default: "10" },
    "delay-ms": { type: "string" },
    "list": { type: "boolean", default: false },
    "help": { type: "boolean", default: false },
  },
});

function choose(option: "only" | "runtime", known: readonly string[]): readonly string[] {
  const chosen = values[option]?.split(",") ?? [];
  const unknown = chosen.find((name) => !known.includes(name));
  if (unknown !== undefined) fail(`--${option} may name ${known.join(", ")}; got ${unknown}`);
  return known.filter((name) => chosen.includes(name));
}

function positive(
  option: "threads" | "soak-minutes" | "delay-ms",
  value: string,
  isWhole: boolean,
): number {
  const number = Number(value);
  if (number > 0 && Number.isFinite(number) && (!isWhole || Number.isInteger(number))) {
    return number;
  }
  return fail(`--${option} must be ${isWhole ? "an integer" : "a number"} above 0; got ${value}`);
}

/** The module of Knitting's checkout that `--peer` names. */
function readPeer(): URL | undefined {
  let module: URL | undefined;
  for (const peer of values.peer) {
    const [, name, folder] = /^([^=]+)=(.+)$/.exec(peer) ?? [];
    if (name !== "knitting") fail(`--peer must be knitting=PATH; got ${peer}`);
    const file = path.resolve(folder!, "knitting.ts");
    if (!existsSync(file)) fail(`--peer knitting: there is no ${file}`);
    module = pathToFileURL(file);
  }
  return module;
}

if (values.help) {
  console.log(HELP);
  process.exit(0);
}

const knitting = readPeer();
const choices: Choices = {
  isQuick: values.quick,
  threads: positive("threads", values.threads ?? String(os.availableParallelism()), true),
  soakMinutes: positive("soak-minutes", values["soak-minutes"], false),
  delayMs: positive("delay-ms", values["delay-ms"] ?? (values.quick ? "50" : "1000"), true),
  hasKnitting: knitting !== undefined,
};

if (values.list) {
  for (const [name, { about, contenders, when, on = [] }] of Object.entries(SCENARIOS)) {
    const all = contenders(choices, "").map((each) => each.variantOf ?? each.name);
    const who = [...new Set(all)].join(", ");
    const extra = when === "named" ? " (only when named)" : "";
    console.log(`${name.padEnd(15)} ${about}${extra}`);
    console.log(`${"".padEnd(15)} ${who}${on.includes("tokio") ? "; and on tokio" : ""}`);
  }
  process.exit(0);
}

const all = Object.keys(SCENARIOS);
const usual = all.filter((name) => {
  const { when } = SCENARIOS[name]!;
  return choices.isQuick ? when === "quick" : when !== "named";
});
const scenarios = values.only === undefined ? usual : choose("only", all);
const known = [...Object.keys(RUNTIMES), "native", "browser", "tokio"];
const runtimes = values.runtime === undefined ? known : choose("runtime", known);
/** Where results and charts go: those of quick runs are not for keeping. */
const folder = values.out ?? (values.quick ? `${root}quick` : root);
const out = `${path.resolve(folder)}/`;

const ownVersion = (folder: string | URL): string =>
  (JSON.parse(readFileSync(new URL("package.json", folder), "utf8")) as { version: string })
    .version;
const installed = ["piscina", "tinypool", "workerpool", "poolifier", "comlink", "synckit", "ws"];
const versions = {
  heddle: ownVersion(pathToFileURL(root)),
  ...(knitting === undefined ? {} : { [KNITTING]: ownVersion(new URL("./", knitting)) }),
  ...Object.fromEntries(
    [...installed, "fastify", "autocannon", "msgpackr", "mitata", "tinybench"].map((
      name,
    ) => [name, versionOf(name)]),
  ),
};

function scriptRun(name: string, runtime: string): Run {
  const { command, version } = startedOn(runtime);
  return {
    name,
    scenario: SCENARIOS[name]!,
    runtime,
    version,
    choices,
    contenders: SCENARIOS[name]!.contenders(choices, runtime),
    command: ({ args, prefix = [] }) => [
      ...prefix,
      ...command,
      `benchmarks/${runtime}.ts`,
      name,
      ...args,
      ...(choices.isQuick ? ["--quick"] : []),
    ],
    env: knitting === undefined ? {} : { HEDDLE_PEER_KNITTING: knitting.href },
    versions: { ...versions, ...SCENARIOS[name]!.versions?.(runtime) },
  };
}

function writeResult(result: ScenarioResult): void {
  const folder = `${out}results/${result.runtime}`;
  mkdirSync(folder, { recursive: true });
  const json = `${JSON.stringify(result)}\n`;
  const markdown = toMarkdown(result);
  // Charts and comparisons read the JSON; the Markdown is for people, and says the same.
  writeFileSync(`${folder}/${result.scenario}.json`, json);
  writeFileSync(`${folder}/${result.scenario}.md`, markdown);
  if (values.json) process.stdout.write(json);
  // On a terminal the table at the end is enough.
  if (!isTerminal && !choices.isQuick) log(markdown);
}

const cargo = runtimes.includes("tokio") && hasCargo();

let failed = 0;

function fails(runtime: string, name: string, error: unknown): void {
  failed++;
  log(`FAILED ${runtime} ${name}: ${(error as Error).message}`);
}

/** Builds Tokio's program, which may fail. */
function tokioRuns(name: string): Run[] {
  try {
    return [tokioRun(name, SCENARIOS[name]!, choices)];
  } catch (error) {
    fails("tokio", name, error);
    return [];
  }
}

/** The scenarios on the runtimes that have them. */
const runs: readonly Run[] = scenarios.flatMap((name) => {
  const { on = SCRIPTS } = SCENARIOS[name]!;
  return runtimes
    .filter((runtime) => on.includes(runtime as never) && (runtime !== "tokio" || cargo))
    .flatMap((runtime) => runtime === "tokio" ? tokioRuns(name) : [scriptRun(name, runtime)]);
});
const steps = runs.map(({ name, runtime, scenario, contenders }) => {
  const count = contenders.filter(({ left }) => left === undefined).length;
  const processes = roundsOf(scenario, choices) * count;
  const file = `${out}results/${runtime}/${name}.json`;
  return {
    name,
    runtime,
    processes,
    seconds: expectedSeconds(file, processes, choices.isQuick),
  };
});
if (runtimes.includes("tokio") && !cargo) log("SKIPPED tokio: cargo is not installed");
log(describePlan(steps, out));

/** Of a scenario on a machine that has other work. */
const MAX_TRIES = 3;

const startedAt = Date.now();
let isBusy = false;
const reference = await ReferenceSpin.start();
const progress = new Progress(steps);
/** A result is kept only if nothing else ran meanwhile: measures again, and gives up in the end. A quick run keeps nothing. */
async function measureQuietly(run: Run): Promise<ScenarioResult> {
  for (let tries = 1;; tries++) {
    const result = await measure(run, reference, (contender) => progress.startProcess(contender));
    if (result.reference?.isBusy !== true || choices.isQuick) return result;
    const { beforeMs, afterMs, leastMs } = result.reference;
    const found = `work of ${leastMs} ms took ${beforeMs} ms before and ${afterMs} ms after`;
    if (tries === MAX_TRIES) throw new Error(`refused, the machine is busy: ${found}`);
    log(`${run.runtime} ${run.name} is measured again, the machine was busy: ${found}`);
  }
}

for (const run of runs) {
  try {
    const result = await measureQuietly(run);
    isBusy ||= result.reference?.isBusy === true;
    failed += countFailed(result);
    writeResult(result);
    if (run.name === "heavy-load") {
      log(speedUpOf(result));
      if (result.machine.cores > 2) log(`Please send this line to ${ISSUES}: ${reportOf(result)}`);
    }
  } catch (error) {
    fails(run.runtime, run.name, error);
  }
  progress.endStep();
}
await reference.close();
let page: string | undefined;
if (existsSync(`${out}results`)) {
  const files = await renderGraphs(`${out}results/`, `${out}graphs/`);
  page = files.at(-1);
  log(`wrote ${files.length} files to ${out}graphs/`);
}
if (out === root) log("node benchmarks/doc-tables/main.ts writes the figures into the docs");
const summary = summaryOf(`${out}results/`);
if (summary !== "") log(`\n${summary}\n`);
if (choices.isQuick && isBusy) {
  log("Something else was running on this machine: times are too long.");
}
log(`done in ${formatDuration((Date.now() - startedAt) / 1000)}, ${failed} failed`);
if (page !== undefined) log(`open ${page}`);
process.exit(failed === 0 ? 0 : 1);
