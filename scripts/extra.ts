/**
 * `npm run test:extra`: bundlers and frameworks that are no dev dependencies, installed into a temporary folder together
 * with the packed build. Needs a registry, and takes about two minutes. What a tool cannot do is reported with its message.
 */
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const nodes = { "Node 22": "node22", "Node 26": "node" } as const;
const node = join(root, "node_modules/node/bin/node");
const program = "36 HEDDLE!";

const PACKAGES = [
  "webpack@5",
  "next@16",
  "react@19",
  "react-dom@19",
  "jest@30",
  "tsx@4",
  "pnpm@10",
  "vitest@5.1.1",
];

const project = mkdtempSync(join(tmpdir(), "heddle-extra-"));
let failed = 0;
let passed = 0;

/** Output and exit code. */
function run(
  command: readonly string[],
  cwd = project,
  env: Readonly<Record<string, string>> = {},
): string {
  const [file = "", ...args] = command;
  const { stdout, stderr, status, error } = spawnSync(file, args, {
    cwd,
    encoding: "utf8",
    timeout: 300_000,
    env: { ...process.env, NODE_OPTIONS: "", NO_COLOR: "1", ...env },
  });
  const output = `${stdout}${stderr}`.trim();
  return status === 0 ? output : `${output}\nexit code ${status} ${error ?? ""}`;
}

function report(name: string, isGood: boolean, output: string): void {
  if (isGood) passed++;
  else failed++;
  console.log(isGood ? `ok   ${name}` : `FAIL ${name}\n${output}`);
}

/** Runs a command whose output must match. */
function check(
  name: string,
  expected: string | RegExp,
  command: readonly string[],
  cwd?: string,
  env?: Readonly<Record<string, string>>,
): void {
  const output = run(command, cwd, env);
  const isGood = typeof expected === "string" ? output === expected : expected.test(output);
  report(name, isGood && !output.includes("\nexit code"), output);
}

const bin = (path: string): string => join(project, "node_modules", path);

function prepare(): string {
  const packed = run(
    ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", project],
    root,
  );
  const tarball = join(project, packed.split("\n").at(-1)!.trim());
  console.log(`installing ${PACKAGES.join(", ")}`);
  const flags = ["--no-audit", "--no-fund", "--loglevel=error"];
  const installed = run(["npm", "install", ...flags, ...PACKAGES, tarball]);
  if (installed.includes("exit code")) throw new Error(installed);
  cpSync(join(root, "examples/bundlers"), join(project, "bundlers"), { recursive: true });
  for (const name of readdirSync(join(root, "tests/extra"))) {
    cpSync(join(root, "tests/extra", name), join(project, name), { recursive: true });
  }
  return tarball;
}

function webpack(): void {
  for (const flags of [[], ["--external"]]) {
    const target = join(project, "elsewhere");
    const out = join(project, "out");
    const built = run([node, "build.mjs", out, ...flags], join(project, "bundlers/webpack"));
    if (built !== "") return report("webpack", false, built);
    // Elsewhere, and without heddle if it is in the bundle.
    rmSync(target, { recursive: true, force: true });
    renameSync(out, target);
    const installed = bin("heddle");
    if (flags.length === 0) renameSync(installed, `${installed}-hidden`);
    for (const [name, alias] of Object.entries(nodes)) {
      check(`webpack ${flags.join()} on ${name}`, program, [
        join(root, "node_modules", alias, "bin/node"),
        join(target, "main.mjs"),
      ]);
    }
    if (flags.length === 0) renameSync(`${installed}-hidden`, installed);
  }
}

function runners(): void {
  const jest = [bin("jest/bin/jest.js"), "--config"];
  const match = (name: string): string => `{"testMatch":["**/${name}"]}`;
  const folder = join(project, "jest");
  check("Jest, CommonJS", /1 passed/, [node, ...jest, match("common.jest.js")], folder);
  check(
    "Jest, ES modules",
    /1 passed/,
    [node, "--experimental-vm-modules", ...jest, match("modules.jest.mjs")],
    folder,
  );
  for (const pool of ["forks", "threads", "vmThreads"]) {
    const vitest = [bin("vitest/vitest.mjs"), "run", "--pool", pool];
    check(`Vitest, ${pool}`, /1 passed/, [node, ...vitest], join(project, "vitest"));
  }
  for (const [name, alias] of Object.entries(nodes)) {
    const command = [join(root, "node_modules", alias, "bin/node"), bin("tsx/dist/cli.mjs")];
    check(`tsx on ${name}`, "2 42 7", [...command, "main.ts"], join(project, "tsx"));
  }
}

async function next(): Promise<void> {
  const folder = join(project, "next");
  const env = { NEXT_TELEMETRY_DISABLED: "1" };
  check(
    "Next, build",
    /Compiled successfully/,
    [node, bin("next/dist/bin/next"), "build"],
    folder,
    env,
  );
  // The standalone output, elsewhere: only what Next has traced is there.
  const target = join(project, "standalone");
  renameSync(join(folder, ".next/standalone"), target);
  cpSync(join(folder, "tasks.mjs"), join(target, "next/tasks.mjs"));
  const server = spawn(node, [join(target, "next/server.js")], {
    cwd: join(target, "next"),
    env: { ...process.env, PORT: "0", HOSTNAME: "127.0.0.1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const url = await new Promise<string>((resolve, reject) => {
      let output = "";
      server.stdout.on("data", (chunk) => {
        output += String(chunk);
        const match = /Local:\s+(http:\S+)/.exec(output);
        if (match !== null) resolve(match[1]!);
      });
      server.on("close", () => reject(new Error(output)));
    });
    const answer = await (await fetch(`${url}/api/add`)).text();
    report("Next, standalone server", answer === "[42,3]", answer);
  } catch (error) {
    report("Next, standalone server", false, String(error));
  } finally {
    server.kill();
  }
}

function pnpm(tarball: string): void {
  const folder = join(project, "pnpm");
  mkdirSync(folder);
  cpSync(join(project, "bundlers/program"), folder, { recursive: true });
  const { pnpm_config_verify: _, ...env } = process.env as Record<string, string>;
  const store = { ...env, npm_config_store_dir: join(project, "store") };
  const installed = run([node, bin("pnpm/bin/pnpm.cjs"), "add", tarball], folder, store);
  for (const [name, alias] of Object.entries(nodes)) {
    const output = run([join(root, "node_modules", alias, "bin/node"), "main.mjs"], folder);
    report(`pnpm on ${name}`, output === program, `${installed}\n${output}`);
  }
}

/** Deno downloads a base binary for it, so it may be impossible here. */
function denoCompile(): void {
  const folder = join(project, "bundlers/program");
  const deno = join(root, "node_modules/.bin/deno");
  const flags = ["compile", "-A", "--include", "tasks.mjs", "--include", bin("heddle/dist")];
  const built = run([deno, ...flags, "-o", "program", "main.mjs"], folder);
  if (built.includes("error sending request")) {
    console.log(`skipped: deno compile: ${/error sending request.*/.exec(built)![0]}`);
  } else check("deno compile", program, [join(folder, "program")], folder);
}

try {
  const tarball = prepare();
  webpack();
  runners();
  await next();
  pnpm(tarball);
  denoCompile();
} finally {
  rmSync(project, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
