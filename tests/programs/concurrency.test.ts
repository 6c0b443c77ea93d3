/**
 * The programs of the scenario `concurrency`, small: every contender gets the right response to each of its requests.
 * They use the built package.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import os from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import type { RoundFigure, RoundGap, RoundLine } from "../../benchmarks/harness/schema.ts";
import { startedOn } from "../../benchmarks/runner/runtimes.ts";
import {
  caseOf,
  COMPUTING,
  type ConcurrencyTable,
  FAILED,
  FIGURES_OF,
  GO,
  heddleWith,
  PLAIN,
  PYTHON,
  START,
  THREADS,
  WAITING,
} from "../../benchmarks/scenarios/concurrency-cases.ts";
import { runtimeName } from "../support/runtime.ts";

const TASKS = 5;
/** The first build of the Go program compiles its libraries. */
const BUILD_MS = 300_000;

const root = fileURLToPath(new URL("../../", import.meta.url));
const execute = promisify(execFile);

/** The line that the scenario's process of a runtime prints. */
async function run(runtime: string, of: ConcurrencyTable): Promise<RoundLine[]> {
  const { command } = startedOn(runtime);
  const [file = "", ...before] = command;
  const options = ["--contender", of, "--variant", String(TASKS), "--delay-ms", "5", "--quick"];
  const args = [...before, `benchmarks/${runtime}.ts`, "concurrency", ...options];
  const { stdout } = await execute(file, args, { cwd: root });
  return JSON.parse(stdout.trim().split("\n").at(-1)!) as RoundLine[];
}

const isFigure = (line: RoundLine): line is RoundFigure => !("reason" in line);

/** Every figure of the table but those named, no failed request, and no other line. */
function check(
  lines: RoundLine[],
  contender: string,
  of: ConcurrencyTable,
  without: string[],
): void {
  const own = lines.filter((line) => line.contender === contender);
  expect(own.filter((line) => !isFigure(line))).toEqual([]);
  const figures = own.filter(isFigure);
  const expected = FIGURES_OF[of].filter((name) => !without.includes(name));
  expect(figures.map((each) => each.case)).toEqual(expected.map((name) => caseOf(of, name)));
  for (const { case: name, size, samples } of figures) {
    expect(size).toBe(TASKS);
    expect(samples).toHaveLength(1);
    if (name === caseOf(of, FAILED)) expect(samples).toEqual([0]);
    else expect(samples[0]).toBeGreaterThanOrEqual(0);
  }
}

beforeAll(() => {
  expect(existsSync(`${root}dist/mod.js`), "npm run build makes dist/").toBe(true);
});

describe.skipIf(os.platform() !== "linux").each([WAITING, COMPUTING] as const)("%s", (of) => {
  test("each contender of this runtime answers", async () => {
    const lines = await run(runtimeName, of);
    check(lines, heddleWith(os.availableParallelism()), of, []);
    check(lines, PLAIN, of, [START]);
    check(lines, THREADS, of, [START]);
  });

  test.runIf(runtimeName === "node")("Go and Python answer where they are installed", async () => {
    const lines = await run("native", of);
    for (const contender of [GO, PYTHON]) {
      const gap = lines.find((line): line is RoundGap =>
        line.contender === contender && !isFigure(line)
      );
      if (gap?.reason.includes("does not run here") === true) expect(gap.isSkipped).toBe(true);
      else check(lines, contender, of, [START]);
    }
  }, BUILD_MS);
});

test.each([GO, PYTHON])("%s is left out where it is missing", async (contender) => {
  const [file = ""] = startedOn("native").command;
  const args = ["benchmarks/native.ts", "concurrency", "--contender", WAITING, "--variant", "1"];
  const { stdout } = await execute(file, args, { cwd: root, env: { PATH: "" } });
  const lines = JSON.parse(stdout) as RoundLine[];
  const own = lines.filter((line) => line.contender === contender);
  expect(own).toMatchObject([{ isSkipped: true, reason: expect.stringContaining("does not run") }]);
});
