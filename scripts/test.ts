/**
 * Everything `npm test` does: static checks, the build, and every suite on every runtime. Those that start workers run
 * two at a time: no outcome may depend on how long a thread is held up. Ends with `N passed, N failed` over all of
 * it; a check that is not a suite counts as one.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { RUN_VARIABLE, waitForLeftOver } from "./left-over.ts";
import { fetchNatsServer } from "./nats-server.ts";

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

let passed = 0;
let failed = 0;
const failures: string[] = [];
/** Processes that commands have left running. */
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
  const ended = await runMarked(command, cwd, { ...env, [RUN_VARIABLE]: mark });
  for (const { pid, command } of await waitForLeftOver(mark)) {
    leftOver.push(`${name}: ${command}`);
    kill(pid);
  }
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
    timeout: 1_200_000,
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

/** One command, one check. */
async function check(name: string, command: readonly string[]): Promise<void> {
  const startedAt = performance.now();
  const [status, output] = await run(name, command, root, {});
  if (status !== 0) console.log(output);
  report(name, status === 0 ? 1 : 0, status === 0 ? 0 : 1, startedAt);
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

const LOST_WAKES = "conformance/lost-wakes.test.ts";

/** Conformance tests against the packed and installed package instead of the sources. */
function preparePackageTest(): string {
  const target = join(root, ".package-test");
  rmSync(target, { recursive: true, force: true });
  const installed = join(target, "node_modules/heddle");
  mkdirSync(installed, { recursive: true });
  const packed = JSON.parse(
    execFileSync("npm", ["pack", "--json", "--pack-destination", target], {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }),
  ) as Record<string, { filename: string }> | { filename: string }[];
  const [{ filename }] = Object.values(packed) as [{ filename: string }];
  execFileSync("tar", ["-xzf", join(target, filename), "-C", installed, "--strip-components=1"]);
  for (const folder of ["conformance", "fixtures", "support"]) {
    cpSync(join(root, "tests", folder), join(target, "tests", folder), { recursive: true });
  }
  cpSync(join(root, "examples"), join(target, "examples"), { recursive: true });
  for (const path of readdirSync(join(target, "tests"), { recursive: true, encoding: "utf8" })) {
    if (!path.endsWith(".ts")) continue;
    const file = join(target, "tests", path);
    const text = readFileSync(file, "utf8");
    writeFileSync(
      file,
      // What a test puts into programs outside this folder is a URL.
      text.replaceAll(
        /new URL\("((?:\.\.\/)+)src\/(?:mod-)?(mod|[\w-]+)\.ts", import/g,
        'new URL("$1node_modules/heddle/dist/$2.js", import',
      )
        .replaceAll(/"(?:\.\.\/)+src\/mod\.ts"/g, '"heddle"')
        .replaceAll(/"(?:\.\.\/)+src\/mod-task\.ts"/g, '"heddle/task"')
        .replaceAll(/"(?:\.\.\/)+src\/mod-dashboard\.ts"/g, '"heddle/dashboard"')
        .replaceAll(/"(?:\.\.\/)+src\/mod-knitting-utils\.ts"/g, '"heddle/knitting/utils"')
        .replaceAll(/"(?:\.\.\/)+src\/mod-knitting\.ts"/g, '"heddle/knitting"'),
    );
  }
  cpSync(join(root, "vitest.config.ts"), join(target, "vitest.config.ts"));
  // These reach into the sources; everything else uses what the package exports.
  for (const file of ["support/codec.ts", "support/endpoints.ts", "support/rings.ts", LOST_WAKES]) {
    rmSync(join(target, "tests", file), { force: true });
  }
  writeFileSync(join(target, "package.json"), '{ "type": "module", "private": true }\n');
  return target;
}

await check("versions of the runtimes", [bin("node"), "scripts/check-runtimes.ts"]);
await check("format", [bin("deno"), "fmt", "--check"]);
await check("lint (deno)", [bin("deno"), "lint"]);
await check("lint (oxlint)", [bin("oxlint"), "--deny-warnings"]);
await check("build", [bin("tsup"), "--silent"]);
const tsc = [bin("node"), join(root, "node_modules/typescript7/bin/tsc"), "-p"];
await check("types of the core, without runtime globals", [...tsc, "tsconfig.core.json"]);
await check("types of everything", [...tsc, "."]);
await check("package (publint)", [bin("publint"), "--strict"]);
await check("package (are the types wrong)", [bin("attw"), "--pack", ".", "--profile", "node16"]);
await check("unused files, exports and dependencies (knip)", [bin("node"), bin("knip")]);
await check("release, JSR included (npm pack, deno publish --dry-run)", [
  bin("node"),
  "scripts/release.ts",
  "--dry-run",
]);

/** Suites about time and threads; what values look like does not depend on either. */
const conformance = (...names: readonly string[]): string[] =>
  names.map((name) => `tests/conformance/${name}.test.ts`);

const modules = ["tests/unit", "tests/order"];
// Schedules are explored on one runtime of each engine.
/** What is true of files is asked once, and on Deno, which can import from a server. */
const withoutProject = "--exclude=tests/unit/project/**";
const alone = { isParallel: true };
await suite("modules and schedules", "node26", [...modules, "tests/schedule"], alone);
await suite("modules and schedules", "bun", [...modules, "tests/schedule", withoutProject], alone);
await suite("modules", "deno", modules, alone);
await suite("modules", "node22", [...modules, withoutProject], alone);

const pools = ["tests/conformance", "tests/stress"];
const packageTest = preparePackageTest();
const built = { cwd: packageTest };
/** What a build can break on a further engine is how modules find each other and what is exported. */
const builtOnBun = conformance("calls", "errors", "shutdown", "worker-death");
/** Node 24's engine is between the two others': what depends on threads and time is asked again. */
const again = [
  "tests/order",
  ...conformance("abort", "calls", "hard-timeout", "memory-limits", "retries", "timeout"),
  ...conformance("fairness", "parking", "recycling", "scheduling", "shutdown", "teardown"),
  ...conformance("work-stealing", "worker-death"),
];
const sourcesOnly = [`tests/${LOST_WAKES}`, "tests/stress"];
/** Timers are captured when heddle is loaded, by the same code everywhere: once per engine. */
const fakeTimers = { env: { HEDDLE_TEST_FAKE_TIMERS: "1" } };
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

await inTurn(2, [
  () => suite("pools", "deno", pools),
  () => suite("pools", "node26", pools),
  () => suite("pools", "bun", pools),
  // The oldest Node does all it can with the build.
  () => suite("pools of the built package", "node22", ["tests/conformance"], built),
  () => suite("calls and how they end", "node24", again),
  nats("node26", ["tests/nats"]),
  () => suite("the built site", "node26", ["tests/site"]),
  nats("deno", natsAgain),
  nats("bun", natsAgain),
  () => suite("what needs the sources", "node22", sourcesOnly),
  () => suite("calls of the built package", "bun", builtOnBun, built),
  () => suite("conformance with fake timers", "node26", conformance("shutdown"), fakeTimers),
  () => suite("conformance with fake timers", "bun", conformance("shutdown"), fakeTimers),
  () => suite("code blocks of the docs", "node26", ["tests/docs"]),
  () => suite("pages in a browser", "node26", ["tests/graphs", "tests/dashboard"]),
  ...["node26", "deno", "bun"].map(programs),
]);
rmSync(packageTest, { recursive: true, force: true });

// Installed, bundled and inspected; runs programs on every runtime.
await suite("package", "node26", ["tests/package"], { isParallel: true });

if (spawnSync("taskset", ["-c", "0", "true"]).status === 0) {
  const prefix = ["taskset", "-c", "0"];
  for (const runtime of ["node26", "deno", "bun"]) {
    await suite("conformance pinned to one core", runtime, conformance("fairness", "parking"), {
      prefix,
    });
  }
} else skipped.push("conformance pinned to one core: there is no taskset on this system");

rmSync(compileCache, { recursive: true, force: true });
for (const each of leftOver) console.log(`left running by ${each}`);
report(
  "processes that suites leave running",
  leftOver.length === 0 ? 1 : 0,
  leftOver.length,
  performance.now(),
);
for (const reason of skipped) console.log(`skipped: ${reason}`);
if (failures.length > 0) console.log(`failed: ${failures.join("; ")}`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
