/** Every program in JavaScript and with heddle prints the right result on this runtime. They use `dist/`. */
import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { type Program, PROGRAMS } from "../../benchmarks/programs/catalogue.ts";
import { scriptCommand, textOf } from "../../benchmarks/programs/run-program.ts";
import { workerCounts } from "../../benchmarks/scenarios/programs-cases.ts";

function run(folder: "js" | "heddle", program: Program, ...after: string[]): string {
  const [file = "", ...args] = scriptCommand(folder, program.name);
  const { size } = program.scales.test;
  const { status, stdout, stderr } = spawnSync(
    file,
    [...args, ...program.before, String(size), ...after],
    // Flags of the test runner are not the program's.
    { env: { ...process.env, NODE_OPTIONS: "", NO_COLOR: "1" } },
  );
  expect(status, String(stderr)).toBe(0);
  return textOf(stdout, program);
}

describe.each(PROGRAMS)("$name", (program) => {
  const { result } = program.scales.test;

  test("in JavaScript", () => {
    expect(run("js", program)).toBe(result);
  });

  if (program.isSequential !== undefined) return;

  // With 3 workers the parts are of different sizes.
  test.each([1, 3])("with heddle and %d workers", (workers) => {
    expect(run("heddle", program, String(workers))).toBe(result);
  });
});

test("workers are counted in powers of two up to the number of cores", () => {
  expect(workerCounts(1)).toEqual([1]);
  expect(workerCounts(2)).toEqual([1, 2]);
  expect(workerCounts(6)).toEqual([1, 2, 4, 6]);
});
