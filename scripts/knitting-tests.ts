/**
 * `node scripts/knitting-tests.ts CHECKOUT [DOCS] [--runtime NAME]`: runs the examples and tests of a checkout of Knitting
 * (and of its docs) against @heddle/knitting, in a temporary copy. Needs the build. Prints a table of what passes and
 * why the rest does not; ends with 1 if a failure has no entry in `EXPECTED`.
 */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const modules = join(root, "node_modules");

interface Commands {
  readonly run: readonly string[];
  /** Writes a JUnit report to a file, or to its output. */
  readonly test: (report: string) => readonly string[];
}

const nodeAt = (path: string): Commands => ({
  run: [join(modules, path), "--no-warnings"],
  test: (report) => [
    join(modules, path),
    "--no-warnings",
    "--test",
    "--test-reporter=junit",
    `--test-reporter-destination=${report}`,
  ],
});
const deno = [join(modules, ".bin/deno")];
const bun = join(modules, ".bin/bun");

const RUNTIMES: Readonly<Record<string, Commands>> = {
  node22: nodeAt("node22/bin/node"),
  node26: nodeAt("node/bin/node"),
  deno: {
    run: [...deno, "run", "-A", "--quiet", "--no-lock", "--no-check"],
    test: (report) => [
      ...deno,
      "test",
      "-A",
      "--quiet",
      "--no-lock",
      "--no-check",
      `--junit-path=${report}`,
    ],
  },
  bun: {
    run: [bun],
    test: (report) => [bun, "test", "--reporter=junit", `--reporter-outfile=${report}`],
  },
};

/** Tests that use its public entry, `unsafe` and fixtures only. */
const TESTS = [
  "parameters",
  "api-cap",
  "worker-bootstrap",
  "task-abort-context-api",
  "shared-array-buffer",
  "readme-types",
  "type-inference",
  "utils",
  "runtime.node",
];

const PROCESSES = "process workers or memory shared by processes, which @heddle/knitting refuses";
const EXTERNAL = "imports a package that is not Knitting's";

interface Expected {
  readonly name: RegExp;
  readonly reason: string;
  readonly on?: RegExp;
  /** What the error says. */
  readonly text?: RegExp;
}

/** Why a test or an example does not pass, by its name, on the runtimes that match `on`. */
const EXPECTED: readonly Expected[] = [
  { name: /ProcessSharedBuffer metadata/, reason: PROCESSES },
  {
    name: /pointer-alias over the shared bytes/,
    reason: "internal: asserts that a SharedArrayBuffer does not arrive as one; here it does",
  },
  {
    name: /constructor poisoning|poison payloads|lock buffers are hidden/,
    reason: "internal: its program imports Knitting's own modules",
  },
  {
    name: /blocks direct process termination/,
    reason: "internal: Knitting replaces process.exit in workers; here it ends that worker alone",
  },
  { name: /host debug emits setup path map/, reason: "internal: the text of debug output" },
  { name: /block-12\.ts/, reason: "imports from https:, which only Deno can", on: /node|bun/ },
  { name: /block-12\.ts/, reason: "needs the network", on: /deno/ },
  {
    name: /permissions\/block-1\.ts/,
    reason: "this runtime cannot deny rights to threads, so the option is refused",
    on: /deno|bun|node22/,
  },
  { name: /./, reason: "Node 22 does not parse `using`", on: /node22/, text: /SyntaxError/ },
];

/** Examples that compute for minutes: arguments and edits that make them short. */
const SHORTER: Readonly<Record<string, readonly string[]>> = {
  "pi.ts": ["--samples", "1000000", "--chunk", "100000"],
  "walks_runs.ts": ["--runs", "2000", "--batch", "100", "--steps", "1000"],
  "run_prime.hunt.ts": ["--bits", "64", "--window", "20000", "--chunk", "2000"],
};
/** What the output of an example contains that goes on until it is stopped. */
const ENDLESS: Readonly<Record<string, RegExp>> = { "run_prime.hunt.ts": /^\[window 1\]/m };
const FEWER_REQUESTS = /(const REQUESTS = )2_000/;

const TIMEOUT_MS = 60_000;
const ENDLESS_MS = 15_000;

interface Row {
  readonly suite: string;
  readonly name: string;
  readonly outcomes: Map<string, string>;
}

const rows = new Map<string, Row>();

function note(suite: string, name: string, runtime: string, outcome: string): void {
  const key = `${suite}\n${name}`;
  if (!rows.has(key)) rows.set(key, { suite, name, outcomes: new Map() });
  rows.get(key)!.outcomes.set(runtime, outcome);
}

function run(
  command: readonly string[],
  cwd: string,
  timeout = TIMEOUT_MS,
): { status: number | null; output: string } {
  const [file = "", ...args] = command;
  const { status, stdout, stderr } = spawnSync(file, args, {
    cwd,
    encoding: "utf8",
    timeout,
    killSignal: "SIGKILL",
    maxBuffer: 2 ** 28,
    env: { ...process.env, NO_COLOR: "1" },
  });
  return { status, output: `${stdout}${stderr}` };
}

/** A folder whose `knitting` is @heddle/knitting, and all other packages are the project's. */
function prepare(checkout: string, docs: string | undefined): string {
  const target = mkdtempSync(join(tmpdir(), "heddle-knitting-"));
  writeFileSync(join(target, "package.json"), '{ "type": "module", "private": true }\n');
  const packages = join(target, "node_modules");
  mkdirSync(join(packages, "knitting"), { recursive: true });
  for (const name of readdirSync(modules)) {
    if (/^\.|heddle$/.test(name)) continue;
    symlinkSync(join(modules, name), join(packages, name));
  }
  // As if installed: Deno does not load a linked package for another one.
  cpSync(join(root, "dist"), join(packages, "heddle/dist"), { recursive: true });
  cpSync(join(root, "package.json"), join(packages, "heddle/package.json"));
  cpSync(join(root, "packages/knitting"), join(packages, "@heddle/knitting"), { recursive: true });
  const entries = { knitting: "", utils: "/utils", unsafe: "", "shared-memory": "", browser: "" };
  const exports: Record<string, string> = {};
  for (const [name, path] of Object.entries(entries)) {
    const text = `export * from "@heddle/knitting${path}";\n`;
    exports[name === "knitting" ? "." : `./${name}`] = `./${name}.js`;
    writeFileSync(join(packages, "knitting", `${name}.js`), text);
    mkdirSync(join(target, "knitting"), { recursive: true });
    writeFileSync(join(target, "knitting", `${name}.ts`), text);
  }
  // What its tests look for.
  mkdirSync(join(target, "knitting/.git"));
  writeFileSync(join(target, "knitting/.git/HEAD"), "ref: refs/heads/main\n");
  mkdirSync(join(packages, "bun-types"));
  writeFileSync(join(packages, "bun-types/index.d.ts"), "export {};\n");
  const manifest = { name: "knitting", version: "0.0.0", type: "module", exports };
  writeFileSync(join(packages, "knitting/package.json"), JSON.stringify(manifest));
  cpSync(join(checkout, "test"), join(target, "knitting/test"), { recursive: true });
  writeBlocks(join(checkout, "README.md"), join(target, "examples/README"));
  if (docs !== undefined) {
    cpSync(join(docs, "src/assets/code"), join(target, "examples/code"), { recursive: true });
    const pages = join(docs, "src/content/docs");
    for (const path of readdirSync(pages, { recursive: true, encoding: "utf8" })) {
      if (!/\.mdx?$/.test(path)) continue;
      writeBlocks(join(pages, path), join(target, "examples/docs", path.replace(/\.mdx?$/, "")));
    }
  }
  return target;
}

/** Writes the blocks of TypeScript of a page to files. A block that starts with a comment of a file name has that name. */
function writeBlocks(page: string, folder: string): void {
  const text = readFileSync(page, "utf8");
  let count = 0;
  for (
    const [, info = "", block = ""] of text.matchAll(
      /^ *```(?:ts|js|typescript)\b(.*)\n([^]*?)^ *```/gm,
    )
  ) {
    count++;
    const named = /^\/\/ ([\w.-]+\.[tj]s)\b/.exec(block)?.[1] ??
      /title="([\w.-]+\.ts)"/.exec(info)?.[1];
    const file = named ?? `block-${count}.ts`;
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, file), block);
  }
}

/** Files of examples that create a pool themselves. */
function examplesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => {
    if (!/\.tsx?$/.test(path)) return false;
    const text = readFileSync(join(folder, path), "utf8");
    return /from "knitting(?:\/[\w-]+)?"/.test(text) && /\bcreatePool\(/.test(text);
  }).sort();
}

/** Packages that a file imports, directly or through other files. */
function packagesOf(file: string, seen: Set<string> = new Set()): Set<string> {
  const found = new Set<string>();
  if (seen.has(file) || !existsSync(file)) return found;
  seen.add(file);
  for (const [, name = ""] of readFileSync(file, "utf8").matchAll(/\bfrom "([^"]+)"/g)) {
    if (!name.startsWith(".")) found.add(name);
    else for (const other of packagesOf(join(dirname(file), name), seen)) found.add(other);
  }
  return found;
}

function runExamples(target: string, runtime: string): void {
  const folder = join(target, "examples");
  for (const path of examplesIn(folder)) {
    const file = join(folder, path);
    const text = readFileSync(file, "utf8");
    const packages = [...packagesOf(file)];
    if (packages.some((name) => !/^(?:node:|knitting(?:\/|$))/.test(name))) {
      note("examples", path, runtime, `skipped: ${EXTERNAL}`);
    } else if (
      /"process"|"compiled"|porffor|processRuntime|knitting\/(?:unsafe|shared)/.test(text)
    ) {
      note("examples", path, runtime, `skipped: ${PROCESSES}`);
    } else {
      writeFileSync(file, text.replace(FEWER_REQUESTS, "$1" + "20"));
      const command = [...RUNTIMES[runtime]!.run, file, ...SHORTER[basename(path)] ?? []];
      const timeoutMs = basename(path) in ENDLESS ? ENDLESS_MS : TIMEOUT_MS;
      const { status, output } = run(command, target, timeoutMs);
      const isGood = ENDLESS[basename(path)]?.test(output) ?? status === 0;
      note("examples", path, runtime, isGood ? "passed" : `failed: ${reasonIn(output)}`);
    }
  }
}

/** The first line of an output that looks like an error. */
function reasonIn(output: string): string {
  const line = output.split("\n").find((each) => /Error\b|error:/.test(each)) ?? output.trim();
  return (line.trim() || "no output in time").slice(0, 160);
}

function runTests(target: string, runtime: string): void {
  const folder = join(target, "knitting");
  for (const name of TESTS) {
    if (!existsSync(join(folder, `test/${name}.test.ts`))) continue;
    const report = join(target, `${runtime}-${name}.xml`);
    const { output } = run(
      [...RUNTIMES[runtime]!.test(report), `./test/${name}.test.ts`],
      folder,
    );
    const xml = existsSync(report) ? readFileSync(report, "utf8") : "";
    const cases = [...xml.matchAll(/<testcase\b([^>]*?)(?:\/>|>([^]*?)<\/testcase>)/g)];
    if (cases.length === 0) note(name, "(all)", runtime, `failed: ${reasonIn(output)}`);
    for (const [, attributes = "", body = ""] of cases) {
      const test = unescape(/\bname="([^"]*)"/.exec(attributes)?.[1] ?? "");
      const message = /<failure[^>]*?message="([^"]*)"/.exec(body)?.[1] ?? body;
      const isBad = /<(?:failure|error)/.test(body);
      const outcome = isBad ? `failed: ${reasonIn(unescape(message))}` : "passed";
      note(name, test, runtime, /<skipped/.test(body) ? "skipped: by the test itself" : outcome);
    }
  }
}

function unescape(text: string): string {
  const characters: Record<string, string> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
  return text.replace(/&#x?\w+;/g, " ").replace(/&(\w+);/g, (all, name) => characters[name] ?? all);
}

/** Compiles the tests of types. */
function checkTypes(target: string): void {
  const names = TESTS.filter((name) => /types|type-/.test(name));
  const config = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      allowImportingTsExtensions: true,
      noUnusedLocals: false,
      noUnusedParameters: false,
      exactOptionalPropertyTypes: false,
      types: ["node"],
      typeRoots: [join(modules, "@types")],
    },
    include: [],
    files: names.map((name) => `test/${name}.test.ts`),
  };
  writeFileSync(join(target, "knitting/tsconfig.json"), JSON.stringify(config));
  const tsc = [process.execPath, join(modules, "typescript7/bin/tsc"), "-p", "."];
  const { output } = run(tsc, join(target, "knitting"));
  for (const name of names) {
    const error = output.split("\n").find((line) => line.startsWith(`test/${name}`));
    note(name, "(compiles)", "types", error === undefined ? "passed" : `failed: ${error}`);
  }
}

/** Prints a line per test, and returns the number of failures without a reason. */
function printTable(runtimes: readonly string[]): number {
  const columns = [...runtimes, "types"];
  let unexpected = 0;
  const totals = new Map<string, number>();
  for (const { suite, name, outcomes } of rows.values()) {
    const notes = new Set<string>();
    const marks = columns.map((runtime) => {
      const [word = "", ...rest] = (outcomes.get(runtime) ?? "").split(": ");
      if (word === "failed") {
        const known = EXPECTED.find((each) =>
          each.name.test(name) && (each.on?.test(runtime) ?? true) &&
          (each.text?.test(rest.join(": ")) ?? true)
        );
        if (known === undefined) unexpected++;
        notes.add(known?.reason ?? `UNEXPECTED on ${runtime}: ${rest.join(": ")}`);
      } else if (rest.length > 0) notes.add(rest.join(": "));
      if (word !== "") totals.set(word, (totals.get(word) ?? 0) + 1);
      return ({ passed: "pass", failed: "FAIL", skipped: "skip" }[word] ?? "").padEnd(6);
    });
    console.log(`| ${marks.join(" | ")} | ${suite}: ${name} | ${[...notes].join("; ")} |`);
  }
  console.log(`columns: ${columns.join(", ")}`);
  console.log([...totals].map(([word, count]) => `${count} ${word}`).join(", "));
  return unexpected;
}

const args = process.argv.slice(2);
const at = args.indexOf("--runtime");
const [, named] = at < 0 ? [] : args.splice(at, 2);
const [checkout, docs] = args;
const chosen = named === undefined ? Object.keys(RUNTIMES) : [named];
if (checkout === undefined || chosen.some((name) => !(name in RUNTIMES))) {
  console.error(
    `The path of a checkout of Knitting, and --runtime one of ${Object.keys(RUNTIMES).join(", ")}`,
  );
  process.exit(2);
}
const target = prepare(resolve(checkout), docs === undefined ? undefined : resolve(docs));
for (const runtime of chosen) {
  runExamples(target, runtime);
  runTests(target, runtime);
}
checkTypes(target);
const unexpected = printTable(chosen);
if (process.env["KEEP"] === undefined) rmSync(target, { recursive: true, force: true });
else console.log(target);
process.exit(unexpected === 0 ? 0 : 1);
