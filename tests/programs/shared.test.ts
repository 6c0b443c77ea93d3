/**
 * The scenario `shared`, small: every contender has its figures, and programs in other languages are left out where their tools
 * are missing. It uses the built package.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { RoundFigure, RoundGap, RoundLine } from "../../benchmarks/harness/schema.ts";
import { RUNTIMES } from "../../benchmarks/runner/runtimes.ts";
import {
  CALL,
  CHANNEL,
  CHANNEL_ALONE,
  CLONE,
  CROSSBEAM,
  GET,
  GO,
  HEDDLE,
  MAP,
  MUTEX,
  RING,
  RUST,
  SET,
  TOKIO,
} from "../../benchmarks/scenarios/shared-cases.ts";
import { runtimeName } from "../support/runtime.ts";

/** The first build of the Go program compiles its libraries. */
const TIMEOUT_MS = 300_000;
const root = fileURLToPath(new URL("../../", import.meta.url));

/** What the process of the scenario prints. */
async function run(env: NodeJS.ProcessEnv = process.env): Promise<readonly RoundLine[]> {
  const [file = "", ...before] = RUNTIMES[runtimeName]!.command;
  const args = [...before, `benchmarks/${runtimeName}.ts`, "shared", "--quick"];
  const { stdout } = await promisify(execFile)(file, args, { cwd: root, env });
  return JSON.parse(stdout.trim().split("\n").at(-1)!) as RoundLine[];
}

/** Cases and sizes by contender. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  [HEDDLE]: [GET, SET, CHANNEL_ALONE, CHANNEL].flatMap((name) => [`${name} 8`, `${name} 200`])
    .concat(`${MUTEX} 1`, `${MUTEX} 2`),
  [CALL]: [`${GET} 8`, `${GET} 200`],
  [MAP]: [GET, SET].flatMap((name) => [`${name} 8`, `${name} 200`]),
  [CLONE]: [`${GET} 200`],
  [RING]: [`${CHANNEL_ALONE} 8`, `${CHANNEL} 8`],
};
const NATIVE: Readonly<Record<string, readonly string[]>> = {
  [GO]: [`${CHANNEL_ALONE} 8`, `${CHANNEL} 8`, `${MUTEX} 1`, `${MUTEX} 2`],
  [RUST]: [`${CHANNEL_ALONE} 8`, `${CHANNEL} 8`, `${MUTEX} 1`, `${MUTEX} 2`],
  [CROSSBEAM]: [`${CHANNEL_ALONE} 8`, `${CHANNEL} 8`],
  [TOKIO]: [`${CHANNEL_ALONE} 8`, `${CHANNEL} 8`],
};

const isGap = (line: RoundLine): line is RoundGap => "reason" in line;

const placesOf = (lines: readonly RoundLine[], contender: string): readonly string[] =>
  lines.filter((line) => line.contender === contender)
    .map((line) => `${line.case} ${line.size}`).sort();

function checkFigures(lines: readonly RoundLine[]): void {
  const figures = lines.filter((line): line is RoundFigure => !isGap(line));
  for (const { case: name, unit, count, samples } of figures) {
    expect(unit).toBe("ns");
    expect(count, name).toBeGreaterThan(0);
    expect(samples.every((sample) => sample > 0 && Number.isFinite(sample)), name).toBe(true);
  }
  for (const [contender, places] of Object.entries(EXPECTED)) {
    expect(placesOf(figures, contender), contender).toEqual([...places].sort());
  }
}

test("every contender has its figures, or the reason why not", async () => {
  const lines = await run();
  checkFigures(lines);
  for (const [contender, places] of Object.entries(NATIVE)) {
    expect(placesOf(lines, contender), contender).toEqual([...places].sort());
  }
  expect(lines.filter(isGap).filter(({ isSkipped }) => !isSkipped)).toEqual([]);
}, TIMEOUT_MS);

test("Go and Rust are left out where their tools are missing", async () => {
  const lines = await run({ ...process.env, PATH: "" });
  checkFigures(lines);
  const gaps = lines.filter(isGap);
  for (const [contender, places] of Object.entries(NATIVE)) {
    expect(placesOf(gaps, contender), contender).toEqual([...places].sort());
  }
  for (const { contender, reason, isSkipped } of gaps) {
    expect(isSkipped).toBe(true);
    expect(reason).toMatch(
      contender === GO ? /^go is not installed$/ : /^cargo is not installed$|^a quick run does not/,
    );
  }
}, TIMEOUT_MS);
