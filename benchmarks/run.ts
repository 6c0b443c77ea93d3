/**
 * Runs the benchmarks: one process at a time, contenders interleaved round by round, results under
 * `results/<runtime>/`, then the charts. Called by `run.sh`, on the project's own Node.
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import os from "node:os";
import path from "node:path";
import { renderGraphs } from "../graphs/render.ts";
import {
  addOverBaseline,
  addP99RatioToBaseline,
  addPerCall,
  addRatioToBaseline,
  addRatioToFloor,
  addRatioToIdeal,
  addRatioToReference,
  addSpeedUp,
  addThroughput,
  isWithOneWorker,
} from "./harness/derived.ts";
import { describeCommit, describeMachine, versionOf } from "./harness/machine.ts";
import { toMarkdown } from "./harness/markdown.ts";
import type {
  Failure,
  Measurement,
  RoundFigure,
  RoundLine,
  ScenarioResult,
} from "./harness/schema.ts";
import { summarize } from "./harness/statistics.ts";
import { ALONE, BESIDE_LONG, LAST_MICRO, LONG_TASK } from "./scenarios/mixed-cases.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const bin = (name: string): string => `${root}node_modules/.bin/${name}`;

interface RuntimeCommand {
  readonly command: readonly string[];
  readonly version: string;
}

const RUNTIMES: Readonly<Record<string, RuntimeCommand>> = {
  node: { command: [bin("node")], version: process.version.slice(1) },
  deno: { command: [bin("deno"), "run", "-A", "--quiet"], version: versionOf("deno") },
  bun: { command: [bin("bun")], version: versionOf("bun") },
};

/** One kind of process of a scenario, run once per round. */
interface Contender {
  readonly name: string;
  readonly args: readonly string[];
}

interface Scenario {
  readonly rounds: (isQuick: boolean) => number;
  readonly contenders: (threads: number) => readonly Contender[];
  readonly finish: (measurements: Measurement[]) => Measurement[];
}

/** Scenarios whose process measures one contender, named on its command line. */
const named = (...names: readonly string[]) => (): readonly Contender[] =>
  names.map((name) => ({ name, args: ["--contender", name] }));

/** Scenarios whose process takes as many workers as its command line says. */
const withWorkers = (...counts: readonly number[]) => (): readonly Contender[] =>
  counts.map((count) => ({
    name: count === 1 ? "1 worker" : `${count} workers`,
    args: ["--threads", String(count)],
  }));

/** The same split by worker_threads alone. */
const byHand = (name: string): string => `${name}, by hand`;

/** Worker pools and proxies of others. */
const PEERS = ["Piscina", "Tinypool", "workerpool", "Poolifier", "comlink", "synckit"];

const FLOOR = "raw ring floor";
const RAW_WORKER = "raw worker";

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  "ipc": {
    rounds: (isQuick) => isQuick ? 1 : 3,
    contenders: named("heddle", "postMessage", "websocket", "HTTP", ...PEERS),
    finish: (measurements) => addRatioToBaseline(measurements, "heddle"),
  },
  "latency": {
    rounds: (isQuick) => isQuick ? 2 : 5,
    contenders: named("heddle", FLOOR, "postMessage", "Piscina"),
    finish: (measurements) => addRatioToFloor(measurements, FLOOR),
  },
  "heavy-load": {
    rounds: (isQuick) => isQuick ? 1 : 3,
    contenders: (threads) =>
      Array.from({ length: threads + 1 }, (_, workers) => {
        const args = ["--threads", String(workers)];
        if (workers === 0) return [{ name: "main alone", args }];
        return [
          { name: `main + ${workers}`, args },
          { name: byHand(`main + ${workers}`), args: [...args, "--contender", "by hand"] },
        ];
      }).flat(),
    finish: (measurements) =>
      addRatioToReference(
        addSpeedUp(measurements),
        (candidate, of) => candidate.contender === byHand(of.contender),
      ),
  },
  "types": {
    rounds: (isQuick) => isQuick ? 1 : 2,
    contenders: named("heddle", "heddle (JSON text)", "postMessage"),
    finish: (measurements) => addPerCall(addRatioToBaseline(measurements, "postMessage")),
  },
  "payload-growth": {
    rounds: (isQuick) => isQuick ? 1 : 2,
    contenders: named("heddle", "postMessage"),
    finish: (measurements) =>
      addThroughput(addPerCall(addRatioToBaseline(measurements, "postMessage"))),
  },
  "codec": {
    rounds: (isQuick) => isQuick ? 1 : 3,
    contenders: named("heddle codec", "JSON", "node:v8", "msgpackr", "structuredClone"),
    finish: (measurements) => addRatioToBaseline(measurements, "structuredClone"),
  },
  "lateness": {
    rounds: (isQuick) => isQuick ? 2 : 4,
    contenders: named("heddle", RAW_WORKER),
    finish: (measurements) =>
      addP99RatioToBaseline(addRatioToBaseline(measurements, RAW_WORKER), RAW_WORKER),
  },
  "idle-cost": {
    rounds: () => 1,
    contenders: named("heddle", RAW_WORKER, "no workers"),
    finish: (measurements) => addOverBaseline(measurements, RAW_WORKER),
  },
  "thread-sweep": {
    rounds: (isQuick) => isQuick ? 1 : 4,
    contenders: withWorkers(1, 2, 4, 8),
    finish: (measurements) => addRatioToReference(measurements, isWithOneWorker),
  },
  "mixed-load": {
    rounds: (isQuick) => isQuick ? 1 : 3,
    contenders: named(ALONE, BESIDE_LONG),
    finish: (measurements) =>
      addRatioToReference(
        addRatioToBaseline(measurements, ALONE),
        (candidate, of) => candidate.case === LONG_TASK && of.case === LAST_MICRO,
      ),
  },
  "fan-out": {
    rounds: (isQuick) => isQuick ? 2 : 4,
    contenders: withWorkers(1, 2),
    finish: (measurements) => addRatioToReference(addRatioToIdeal(measurements), isWithOneWorker),
  },
};

/** A process that takes longer than this hangs. */
const CHILD_TIMEOUT_MS = 180_000;

const log = (text: string): void => void process.stderr.write(`${text}\n`);

function runChild(command: readonly string[]): Promise<readonly RoundLine[]> {
  const [file = "", ...args] = command;
  const child = spawn(file, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => stdout += String(chunk));
  child.stderr.on("data", (chunk) => stderr += String(chunk));
  const timer = setTimeout(() => child.kill("SIGKILL"), CHILD_TIMEOUT_MS);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      const line = stdout.trim().split("\n").at(-1) ?? "";
      if (code !== 0 || !line.startsWith("[")) {
        const reason = stderr.trim().split("\n").slice(-8).join("\n");
        reject(new Error(`ended with ${signal ?? `code ${code}`}\n${reason}`));
      } else resolve(JSON.parse(line) as RoundLine[]);
    });
  });
}

interface Run {
  readonly scenario: string;
  readonly runtime: string;
  readonly version: string;
  readonly isQuick: boolean;
  readonly contenders: readonly Contender[];
  readonly command: (contender: Contender) => readonly string[];
  readonly versions: Readonly<Record<string, string>>;
}

/** Takes up what a round could not measure, once. */
function addGap(run: Run, failures: Failure[], gap: Failure): void {
  const isKnown = failures.some((each) =>
    each.contender === gap.contender && each.case === gap.case && each.size === gap.size
  );
  if (isKnown) return;
  failures.push(gap);
  if (gap.isSkipped) return;
  log(`FAILED ${run.runtime} ${run.scenario} ${gap.contender}, ${gap.case}: ${gap.reason}`);
}

async function measureScenario(run: Run): Promise<ScenarioResult> {
  const { rounds, finish } = SCENARIOS[run.scenario]!;
  const cases = new Set<string>();
  const failures: Failure[] = [];
  const figures = new Map<string, { contender: string; rounds: RoundFigure[] }>();
  const total = rounds(run.isQuick);
  for (let number = 1; number <= total; number++) {
    for (const contender of run.contenders) {
      if (failures.some((each) => each.contender === contender.name && each.case === undefined)) {
        continue;
      }
      log(`${run.runtime} ${run.scenario} round ${number}/${total}: ${contender.name}`);
      try {
        for (const line of await runChild(run.command(contender))) {
          cases.add(line.case);
          if ("reason" in line) {
            addGap(run, failures, { contender: contender.name, ...line });
            continue;
          }
          const key = `${contender.name}\n${line.case}\n${line.size}`;
          if (!figures.has(key)) figures.set(key, { contender: contender.name, rounds: [] });
          figures.get(key)!.rounds.push(line);
        }
      } catch (error) {
        const reason = (error as Error).message;
        log(`FAILED ${run.runtime} ${run.scenario} ${contender.name}: ${reason}`);
        failures.push({ contender: contender.name, reason: reason.split("\n")[0]! });
      }
    }
  }
  const measurements = [...figures.values()].map((each) => summarize(each.contender, each.rounds));
  return {
    schema: 1,
    scenario: run.scenario,
    runtime: run.runtime,
    version: run.version,
    isQuick: run.isQuick,
    date: new Date().toISOString(),
    commit: describeCommit(),
    machine: describeMachine(),
    versions: run.versions,
    cases: [...cases],
    measurements: finish(measurements),
    failures,
  };
}

const countFailed = ({ failures }: ScenarioResult): number =>
  failures.filter(({ isSkipped }) => !isSkipped).length;

function writeResult(result: ScenarioResult, isJson: boolean): void {
  const folder = `${out}results/${result.runtime}`;
  mkdirSync(folder, { recursive: true });
  // Charts and comparisons read the JSON; the Markdown is for people.
  writeFileSync(`${folder}/${result.scenario}.json`, `${JSON.stringify(result)}\n`);
  if (!isJson) writeFileSync(`${folder}/${result.scenario}.md`, toMarkdown(result));
  log(toMarkdown(result));
}

/** The Tokio baseline, where cargo is there to build it. */
function tokioRun(isQuick: boolean): Run | undefined {
  try {
    execFileSync("cargo", ["--version"], { stdio: "ignore" });
  } catch {
    log("SKIPPED tokio latency: cargo is not installed");
    return undefined;
  }
  log("tokio: building (cargo build --release)");
  execFileSync("cargo", ["build", "--release", "--quiet"], {
    cwd: `${root}benchmarks/tokio`,
    stdio: ["ignore", "inherit", "inherit"],
  });
  const lock = readFileSync(`${root}benchmarks/tokio/Cargo.lock`, "utf8");
  const version = /name = "tokio"\nversion = "([^"]+)"/.exec(lock)?.[1] ?? "unknown";
  return {
    scenario: "latency",
    runtime: "tokio",
    version,
    isQuick,
    contenders: [{ name: "tokio mpsc + oneshot", args: [] }],
    command: () => [
      `${root}benchmarks/tokio/target/release/heddle-tokio-baseline`,
      ...(isQuick ? ["--quick"] : []),
    ],
    versions: { tokio: version },
  };
}

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    out: { type: "string" },
    runtime: { type: "string" },
    threads: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  console.log(`./run.sh [--json] [--quick] [--only NAME] [--runtime node|deno|bun] [--threads N]
         [--out DIR]

  --json      write results/<runtime>/<scenario>.json only, no .md
  --quick     fewer rounds and samples: about seven minutes in all
  --only      one scenario: ${Object.keys(SCENARIOS).join(", ")}
  --runtime   one runtime (the Tokio baseline is left out then)
  --threads   heavy-load: workers beside the main thread, up to this many (default: the cores)
  --out       a folder for results/ and graphs/ instead of this one`);
  process.exit(0);
}

function choose(option: "only" | "runtime", known: readonly string[]): readonly string[] {
  const chosen = values[option];
  if (chosen === undefined) return known;
  if (known.includes(chosen)) return [chosen];
  log(`--${option} must be one of ${known.join(", ")}; got ${chosen}`);
  process.exit(2);
}

/** Where results and charts go. */
const out = values.out === undefined ? root : `${path.resolve(values.out)}/`;
const threads = Number(values.threads ?? os.availableParallelism());
if (!Number.isInteger(threads) || threads < 1) {
  log(`--threads must be an integer from 1; got ${values.threads}`);
  process.exit(2);
}
const scenarios = choose("only", Object.keys(SCENARIOS));
const runtimes = choose("runtime", Object.keys(RUNTIMES));
const versions = {
  heddle: (JSON.parse(readFileSync(`${root}package.json`, "utf8")) as { version: string }).version,
  piscina: versionOf("piscina"),
  tinypool: versionOf("tinypool"),
  workerpool: versionOf("workerpool"),
  poolifier: versionOf("poolifier"),
  comlink: versionOf("comlink"),
  synckit: versionOf("synckit"),
  ws: versionOf("ws"),
  msgpackr: versionOf("msgpackr"),
  mitata: versionOf("mitata"),
  tinybench: versionOf("tinybench"),
};
const isQuick = values.quick;
const startedAt = Date.now();
const runs: Run[] = [];
for (const scenario of scenarios) {
  for (const runtime of runtimes) {
    const { command, version } = RUNTIMES[runtime]!;
    runs.push({
      scenario,
      runtime,
      version,
      isQuick,
      contenders: SCENARIOS[scenario]!.contenders(threads),
      command: ({ args }) => [
        ...command,
        `benchmarks/${runtime}/${scenario}.ts`,
        ...args,
        ...(isQuick ? ["--quick"] : []),
      ],
      versions,
    });
  }
}
let failed = 0;
for (const run of runs) {
  const result = await measureScenario(run);
  failed += countFailed(result);
  writeResult(result, values.json);
}
if (scenarios.includes("latency") && values.runtime === undefined) {
  try {
    const run = tokioRun(isQuick);
    if (run !== undefined) {
      const result = await measureScenario(run);
      failed += countFailed(result);
      writeResult(result, values.json);
    }
  } catch (error) {
    failed++;
    log(`FAILED tokio latency: ${(error as Error).message}`);
  }
}
if (existsSync(`${out}results`)) {
  for (const file of await renderGraphs(`${out}results/`, `${out}graphs/`)) log(`wrote ${file}`);
}
log(`done in ${Math.round((Date.now() - startedAt) / 1000)} s, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
