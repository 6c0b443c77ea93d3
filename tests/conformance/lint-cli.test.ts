/** `examples/lint-cli` as a program: its exit codes, Ctrl-C, and the bundle that CommonJS starts. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { generate } from "../../examples/lint-cli/samples.ts";
import { launch, type Launched } from "../support/processes.ts";
import { runtimeName } from "../support/runtime.ts";

const example = fileURLToPath(new URL("../../examples/lint-cli/", import.meta.url));
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "heddle-lint-cli-"));
});

afterAll(() => rmSync(folder, { recursive: true }));

function start(file: string, ...args: readonly string[]): Launched {
  const flags = runtimeName === "deno" ? ["run", "-A", "--quiet", "--no-lock"] : [];
  return launch([process.execPath, ...flags, file, ...args], { cwd: folder });
}

async function run(file: string, ...args: readonly string[]) {
  const program = start(file, ...args);
  const { code } = await program.exited;
  await program.closed;
  return { code, lines: program.output().trim().split("\n") };
}

const main = join(example, "main.ts");

test("the exit code tells of problems and of crashes", async () => {
  writeFileSync(join(folder, "clean.ts"), "f();\n");
  writeFileSync(join(folder, "fault.ts"), "f();\ndebugger;\n");
  writeFileSync(join(folder, "worse.ts"), "// crash\n");
  expect(await run(main, "clean.ts"))
    .toEqual({ code: 0, lines: ["1 files checked: 0 errors, 0 warnings"] });
  const fault = "fault.ts:2:1: error: debugger (no-debugger)";
  expect(await run(main, "fault.ts", "clean.ts"))
    .toEqual({ code: 1, lines: [fault, "2 files checked: 1 errors, 0 warnings"] });
  expect(await run(main, "worse.ts", "fault.ts", "clean.ts")).toEqual({
    code: 2,
    lines: [
      fault,
      "worse.ts: crash: its worker ended (exit code 3)",
      "2 files checked: 1 errors, 0 warnings",
      "1 files crashed the linter",
    ],
  });
});

test("Ctrl-C ends it with 130, and it tells what it has checked", async () => {
  const many = join(folder, "many");
  generate(2000, many);
  const program = start(main, "--progress", many);
  let hasSent = false;
  program.onOutput((output) => {
    if (hasSent || !output.includes("no-todo")) return;
    hasSent = true;
    program.send("SIGINT");
  });
  expect(await program.exited).toMatchObject({ code: 130 });
  await program.closed;
  const output = program.output();
  const [, checked] = /(\d+) files checked/.exec(output) ?? [];
  const [, skipped] = /(\d+) files not checked/.exec(output) ?? [];
  expect(Number(checked)).toBeGreaterThan(0);
  expect(Number(checked) + Number(skipped)).toBe(2000);
  expect(output).toMatch(/\d+ of 2000 files/);
});

test("a bundle that CommonJS starts", async () => {
  const out = join(folder, "out");
  const built = await run(join(example, "build.mjs"), out);
  expect(built).toMatchObject({ code: 0 });
  writeFileSync(join(folder, "bundled.ts"), "debugger;\n");
  expect(await run(join(out, "bin.cjs"), "bundled.ts")).toEqual({
    code: 1,
    lines: [
      "bundled.ts:1:1: error: debugger (no-debugger)",
      "1 files checked: 1 errors, 0 warnings",
    ],
  });
});
