/**
 * `npm run test:mutants [-- ROOM …]`: breaks the sources in each place of `list.ts`, in a copy, and runs the tests of its room.
 * Ends with the mutants that no test noticed; exit code 1 if there are some.
 */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Mutant, type Room, rooms } from "./list.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const copy = mkdtempSync(join(tmpdir(), "heddle-mutants-"));
for (const name of ["src", "tests", "examples", "benchmarks", "scripts"]) {
  cpSync(join(root, name), join(copy, name), { recursive: true });
}
for (const name of ["package.json", "tsconfig.base.json", "tsconfig.json", "vitest.config.ts"]) {
  cpSync(join(root, name), join(copy, name));
}
for (const name of ["node_modules", "dist"]) {
  symlinkSync(join(root, name), join(copy, name), "dir");
}
mkdirSync(join(copy, "cache"));

/** Runs the tests of a room. Returns the first that failed with the end of the output, or undefined if all passed. */
function failureOf({ tests }: Room): { test: string; output: string } | undefined {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      join(root, "node_modules/vitest/vitest.mjs"),
      "run",
      "--bail=1",
      // Of the parts that a fault may bring to a stop.
      "--testTimeout=20000",
      "--hookTimeout=20000",
      ...tests.map((path) => join("tests", path)),
    ],
    {
      cwd: copy,
      encoding: "utf8",
      env: { ...process.env, NO_COLOR: "1", NODE_COMPILE_CACHE: join(copy, "cache") },
      timeout: 300_000,
      killSignal: "SIGKILL",
    },
  );
  if (status === 0) return undefined;
  const output = `${stdout}${stderr}`;
  return {
    test: /FAIL {2}(.*)/.exec(output)?.[1] ?? "the run did not end",
    output: output.slice(-2000),
  };
}

function mutate({ file, from, to }: Mutant): { undo(): void } {
  const path = join(copy, "src", file);
  const text = readFileSync(path, "utf8");
  if (text.split(from).length !== 2) throw new Error(`${file} has not exactly one: ${from}`);
  writeFileSync(path, text.replace(from, () => to));
  return { undo: () => writeFileSync(path, text) };
}

const wanted = process.argv.slice(2);
const unnoticed: string[] = [];
let count = 0;
try {
  const chosen = Object.entries(rooms).filter(([name]) =>
    wanted.length === 0 || wanted.includes(name)
  );
  // All of them are checked before any takes its time.
  for (const [, { mutants }] of chosen) for (const mutant of mutants) mutate(mutant).undo();
  for (const [name, room] of chosen) {
    const failure = failureOf(room);
    if (failure !== undefined) {
      throw new Error(`${name} fails without a mutant: ${failure.output}`);
    }
    for (const mutant of room.mutants) {
      const { undo } = mutate(mutant);
      const startedAt = performance.now();
      const noticed = failureOf(room);
      undo();
      count++;
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      console.log(
        `${noticed === undefined ? "MISS" : "ok  "} ${name}: ${mutant.fault} (${seconds} s)`,
      );
      if (noticed === undefined) unnoticed.push(`${mutant.file}: ${mutant.fault}`);
      else console.log(`     ${noticed.test.slice(0, 150)}`);
    }
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
for (const text of unnoticed) console.log(`not noticed: ${text}`);
console.log(`${count - unnoticed.length} of ${count} mutants noticed`);
process.exitCode = unnoticed.length === 0 ? 0 : 1;
