/**
 * Everything `npm test` does: static checks, the build, and the suites on the runtimes. Those that start workers run
 * four at a time: no outcome may depend on how long a thread is held up. Ends with `N passed, N failed` over all of
 * it; a check that is not a suite counts as one.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { RUN_VARIABLE, waitForLeftOver } from "./left-over.ts";
import { fetchNatsServer } from "./nats-server.ts";
import { CLIENTS } from "../tests/clients/mod.ts";
import { firefox, hasBrowser } from "../tests/support/browser.ts";
import { OF_SOURCES, preparePackageTest } from "./package-test.ts";
import { copyWithout, featureNames } from "./without.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const bin = (name: string): string => join(root, "node_modules/.bin", name);
const vitest = join(root, "node_modules/vitest/vitest.mjs");

/** Exact versions; the aliases are whole runtimes, installed as dev dependencies. */
const RUNTIMES: Readonly<Record<string, readonly string[]>> = {
  node22: [join(root, "node_modules/node22/bin/node"), vitest],
  node24: [join(root, "node_modules/node24/bin/node"), vitest],
  node26: [join(root, "node_modules/node/bin/node"), vitest],
  deno: [bin("deno"), "run", "-A", "npm:vitest"],
  bun: [bin("bun"), "--bun", vitest],
};

/** Node keeps what its type stripping made of the sources: a worker starts in half the time. */
const compileCache = join(tmpdir(), `heddle-compile-cache-${process.pid}`);

/** `npm run test:all`: every suite on every runtime, for releases. */
const isFull = process.argv.includes("--all");

let passed = 0;
let failed = 0;
const failures: string[] = [];
/** Processes and temporary folders that commands have left. */
const leftOver: string[] = [];
const skipped: string[] = [];

function report(name: string, good: number, bad: number, startedAt: number): void {
  passed += good;
  failed += bad;
  if (bad > 0) failures.push(name);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(
    `${bad === 0 ? "ok  " : "FAIL"} ${name}: ${good} passed, ${bad} failed (${seconds} s)`,
  );
}

let runs = 0;

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}

/** Exit code and output; 1 if it cannot be started, or had to be killed. What it leaves running is killed and noted. */
async function run(
  name: string,
  command: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<[number, string]> {
  const mark = `${process.pid}-${runs++}`;
  const temporary = mkdtempSync(join(tmpdir(), "heddle-run-"));
  const own = { TMPDIR: temporary, TMP: temporary, TEMP: temporary, [RUN_VARIABLE]: mark };
  const ended = await runMarked(command, cwd, { ...env, ...own });
  for (const { pid, command } of await waitForLeftOver(mark)) {
    leftOver.push(`${name}: ${command}`);
    kill(pid);
  }
  // Runtimes and tools have folders of their own there.
  const folders = readdirSync(temporary).filter((entry) => entry.startsWith("heddle"));
  for (const folder of folders) leftOver.push(`${name}: the temporary folder ${folder}`);
  rmSync(temporary, { recursive: true, force: true });
  return ended;
}

async function runMarked(
  command: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<[number, string]> {
  const [file = "", ...args] = command;
  const child = spawn(file, args, {
    cwd,
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 2_400_000,
    killSignal: "SIGKILL",
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => output += text);
  }
  return await new Promise((resolve) => {
    child.on("error", (error) => resolve([1, String(error)]));
    child.on("close", (status) => resolve([status ?? 1, output]));
    child.on("exit", () => {
      // What it leaves behind may keep its output open for ever.
      for (const stream of [child.stdout, child.stderr]) {
        setTimeout(() => stream.destroy(), 5000).unref();
      }
    });
  });
}

/** One command, one check. Returns what it printed. */
async function check(name: string, command: readonly string[]): Promise<string> {
  const startedAt = performance.now();
  const [status, output] = await run(name, command, root, {});
  if (status !== 0) console.log(output);
  report(name, status === 0 ? 1 : 0, status === 0 ? 0 : 1, startedAt);
  return output;
}

let suites = 0;

/** Test files by vitest on one runtime; counts its tests. */
async function suite(
  name: string,
  runtime: string,
  folders: readonly string[],
  options: {
    cwd?: string;
    env?: NodeJS.ProcessEnv;
    prefix?: readonly string[];
    /** Several files at once: for those that start no workers of their own, or one at a time. */
    isParallel?: boolean;
  } = {},
): Promise<void> {
  const startedAt = performance.now();
  const file = join(tmpdir(), `heddle-test-${process.pid}-${suites++}.json`);
  rmSync(file, { force: true });
  const command = [
    ...(options.prefix ?? []),
    ...RUNTIMES[runtime]!,
    "run",
    ...folders,
    ...(options.isParallel === true ? ["--fileParallelism"] : []),
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${file}`,
  ];
  const env = { ...options.env, NO_COLOR: "1" };
  const [status, output] = await run(`${name} on ${runtime}`, command, options.cwd ?? root, env);
  let good = 0;
  let bad = status === 0 ? 0 : 1;
  try {
    const result = JSON.parse(readFileSync(file, "utf8")) as Record<string, number>;
    good = result["numPassedTests"] ?? 0;
    bad = Math.max(result["numFailedTests"] ?? 0, bad);
  } catch {
    bad = Math.max(bad, 1); // it did not get so far
  }
  if (bad === 0 && good === 0) bad = 1; // a runner that ran nothing has not passed
  if (bad > 0) console.log(output);
  report(`${name} on ${runtime}`, good, bad, startedAt);
  rmSync(file, { force: true });
}

/** Runs so many at a time, in this order. */
async function inTurn(atOnce: number, jobs: readonly (() => Promise<void>)[]): Promise<void> {
  const left = jobs.values();
  const work = async (): Promise<void> => {
    for (const job of left) await job();
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

await check("versions of the runtimes", [bin("node"), "scripts/check-runtimes.ts"]);
await check("format", [bin("deno"), "fmt", "--check"]);
await check("lint (deno)", [bin("deno"), "lint"]);
await check("lint (oxlint)", [bin("oxlint"), "--deny-warnings"]);
await check("build", [bin("tsup"), "--silent"]);
await check("build of the packages", [bin("node"), "scripts/packages.ts"]);
const tsc = [bin("node"), join(root, "node_modules/typescript7/bin/tsc"), "-p"];
await check("types of the core, without runtime globals", [...tsc, "tsconfig.core.json"]);
await check("types of everything", [...tsc, "."]);
await check("package (publint)", [bin("publint"), "--strict"]);
// Browsers have no `require`.
const attw = [bin("attw"), "--pack", ".", "--profile", "node16"];
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly exports: object;
};
// `require("heddle/core")` loads the ES module, as Node does.
const coreModules = Object.keys(exports).map((path) => path.slice(2))
  .filter((path) => /^(?:core|features)\b/.test(path));
const others = ["--exclude-entrypoints", "browser", "browser/worker", ...coreModules];
await check("package (are the types wrong)", [...attw, ...others]);
const ofModules = ["--entrypoints", ...coreModules, "--ignore-rules", "cjs-resolves-to-esm"];
await check("package (types of heddle/core)", [...attw, ...ofModules]);
for (const name of readdirSync(join(root, "packages"), { withFileTypes: true })) {
  if (!name.isDirectory()) continue;
  const folder = join(root, "packages", name.name);
  await check(`package ${name.name} (publint)`, [bin("publint"), "--strict", folder]);
}
await check("unused files, exports and dependencies (knip)", [bin("node"), bin("knip")]);
await check("release, JSR included (npm pack, deno publish --dry-run)", [
  bin("node"),
  "scripts/release.ts",
  "--dry-run",
]);

const conformance = (...names: readonly string[]): string[] =>
  names.map((name) => `tests/conformance/${name}.test.ts`);

const alone = { isParallel: true };
const unit = (...names: readonly string[]): string[] => names.map((name) => `tests/unit/${name}`);
/** What engines and runtimes do differently: values, memory, waiting. */
const ofRuntime = unit("codec", "features", "lane", "ring", "runtimes", "shared", "sync");
/** What is true of files is asked once. */
const modules = isFull
  ? ["tests/unit", "--exclude=tests/unit/project/**", "tests/order"]
  : [...ofRuntime, "tests/order"];
/** The protocol's steps are those of one program, whichever engine runs it. */
const schedules = isFull ? ["tests/schedule"] : [];
const everything = ["tests/unit", "tests/order", "tests/schedule", "benchmarks/", "scripts/"];
await suite("modules and schedules", "node26", everything, alone);
await suite("modules", "bun", [...modules, ...schedules], alone);
await suite("modules", "deno", modules, alone);
await suite("modules", "node22", modules, alone);

const packageTest = preparePackageTest();
const built = { cwd: packageTest };
/** Other releases of Node have the same threads and another engine: what depends on threads and time is asked again. */
const again = [
  ...conformance("abort", "calls", "hard-timeout", "memory-limits", "retries", "timeout"),
  ...conformance("fairness", "parking", "recycling", "scheduling", "shutdown", "teardown"),
  ...conformance("work-stealing", "worker-death"),
];
/** The oldest that is supported also lacks syntax and built-ins: values, modules and what is shared too. */
const ofOldest = [
  ...again,
  ...conformance("errors", "first-calls", "host-functions", "loading", "map", "modules"),
  ...conformance(
    "nested-work",
    "payloads",
    "process",
    "process-workers",
    "scopes",
    "setup",
    "shared-channels",
  ),
  ...conformance("shared-handles", "shared-locks", "shared-maps", "stacks", "streams"),
  ...conformance("structs", "structured-clone", "sync", "thread-budget", "transfer", "with"),
];
const ofSources = [...OF_SOURCES.map((file) => `tests/${file}`), "tests/stress"];
/** Timers are captured when heddle is loaded, by the same code everywhere: once per engine. */
const fakeTimers = { ...built, env: { HEDDLE_TEST_FAKE_TIMERS: "1" } };
/** Machines are processes of their own, on all three runtimes. */
const natsServer = fetchNatsServer();
if (!("path" in natsServer)) skipped.push(`NATS: ${natsServer.reason}`);
const nats = (runtime: string, files: readonly string[]) => async (): Promise<void> => {
  if ("path" in natsServer) await suite("NATS", runtime, files);
};
/** What callers and machines of a runtime do differently; the protocol is the same code. */
const natsAgain = ["calls", "edges", "loss", "security", "streams"].map((name) =>
  `tests/nats/${name}.test.ts`
);
/** The programs of the benchmarks import the build. */
const programs = (runtime: string) => () =>
  suite("programs of the benchmarks", runtime, ["tests/programs"]);

/** The suite in a page, where there is a browser: what its threads and clocks and each transport do differently. */
const ofPage = {
  shared: ["backpressure", "borrow", "errors", "first-calls", "teardown", "transfer"],
  messages: ["host-functions", "map", "payloads", "retries", "streams", "timeout", "transfer"],
};
const ofEachPage = ["abort", "calls", "hard-timeout", "nested-work", "shutdown", "worker-death"];
const inBrowser = (transport: keyof typeof ofPage) => async (): Promise<void> => {
  if (!hasBrowser) return;
  const files = isFull ? [] : conformance(...ofEachPage, ...ofPage[transport]);
  const config = ["-c", "tests/browser/vitest.config.ts"];
  const env = { HEDDLE_TEST_TRANSPORT: transport };
  await suite(`pools in Chromium, ${transport}`, "node26", [...config, ...files], { env });
};
if (!hasBrowser) skipped.push("pools in Chromium: there is none for this system");
if (firefox === undefined) skipped.push("pages in Firefox: it is not installed");
const pagesInBrowser = ["tests/browser", "tests/graphs", "tests/dashboard"];

/** The kernel's suite in copies of heddle without some features. */
const without = (name: string, runtime: string, cwd: string) => () =>
  suite(`the kernel without ${name}`, runtime, ["tests/kernel"], { cwd });
const ofKernel = copyWithout(featureNames);
const kernels = [
  ...["node22", "node26", "deno", "bun"].map((runtime) => without("features", runtime, ofKernel)),
  ...(isFull ? featureNames : ["streams", "limits"]).map((name) =>
    without(name, "node26", copyWithout([name]))
  ),
];

/** A release asks everything of the sources as well: the build is made of them by one tool, in one way. */
const ofRelease = isFull
  ? [
    () => suite("pools of the built package", "node22", ["tests/conformance"], built),
    ...["node22", "node24", "node26", "deno", "bun"].map((runtime) => () =>
      suite("pools of the sources", runtime, ["tests/conformance"])
    ),
    ...["messages", "processes", "host"].flatMap((kind) =>
      ["node22", "node24", "node26", "deno", "bun"].map((runtime) => () =>
        suite(`pools of ${kind}`, runtime, ["-c", "tests/other-workers/vitest.config.ts"], {
          env: { HEDDLE_TEST_WORKERS: kind },
        })
      )
    ),
  ]
  : [];

/** Real programs, whose output on our packages is that on the pools which these replace. Those that are small. */
const clients = async (): Promise<void> => {
  const names = isFull ? Object.keys(CLIENTS) : ["mocha", "swc", "eslint"];
  const command = ["scripts/clients.ts", "--check", "--fresh", "--only", names.join()];
  const output = await check("programs on packages that stand in for others", [
    bin("node"),
    ...command,
  ]);
  skipped.push(...output.split("\n").filter((line) => line.includes(": skipped, ")));
};

// Four at a time on two cores: tests of pools wait as often as they work.
await inTurn(4, [
  ...["bun", "deno", "node26"].map((runtime) => () =>
    suite("pools of the built package", runtime, ["tests/conformance", "examples/"], built)
  ),
  inBrowser("shared"),
  inBrowser("messages"),
  ...["node26", "deno", "bun"].map((runtime) => () =>
    suite("what needs the sources", runtime, ofSources)
  ),
  nats("node26", ["tests/nats"]),
  () => suite("values, calls and how they end", "node22", ofOldest, built),
  () => suite("calls and how they end", "node24", again, built),
  () => suite("the built site", "node26", ["tests/site"]),
  nats("deno", natsAgain),
  nats("bun", natsAgain),
  () => suite("conformance with fake timers", "node26", conformance("shutdown"), fakeTimers),
  () => suite("conformance with fake timers", "bun", conformance("shutdown"), fakeTimers),
  () => suite("code blocks of the docs", "node26", ["tests/docs"]),
  () => suite("pages in a browser", "node26", pagesInBrowser),
  ...["node26", "deno", "bun"].map(programs),
  ...["node22", "node26", "deno", "bun"].map((runtime) => () =>
    suite("packages that stand in for others", runtime, ["packages/"])
  ),
  clients,
  ...kernels,
  ...ofRelease,
]);

// Installed, bundled and inspected; runs programs on every runtime.
await suite("package", "node26", ["tests/package"], { isParallel: true });

if (spawnSync("taskset", ["-c", "0", "true"]).status === 0) {
  const options = { ...built, prefix: ["taskset", "-c", "0"] };
  for (const runtime of ["node26", "deno", "bun"]) {
    const files = conformance("fairness", "parking");
    await suite("conformance pinned to one core", runtime, files, options);
  }
} else skipped.push("conformance pinned to one core: there is no taskset on this system");
rmSync(packageTest, { recursive: true, force: true });
rmSync(join(root, ".without-test"), { recursive: true, force: true });

rmSync(compileCache, { recursive: true, force: true });
for (const each of leftOver) console.log(`left by ${each}`);
report(
  "processes and folders that suites leave",
  leftOver.length === 0 ? 1 : 0,
  leftOver.length,
  performance.now(),
);
for (const reason of skipped) console.log(`skipped: ${reason}`);
if (failures.length > 0) console.log(`failed: ${failures.join("; ")}`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
