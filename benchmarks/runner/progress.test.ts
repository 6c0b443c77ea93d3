/** What a run of the benchmarks says about its length. */
import { expect, test } from "vitest";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describePlan, expectedSeconds, formatDuration, Progress, type Step } from "./progress.ts";
import type { ScenarioResult } from "../harness/schema.ts";
import { reportOf, speedUpOf, summaryOf } from "./summary.ts";

const step = (name: string, runtime: string, processes: number, seconds: number): Step => ({
  name,
  runtime,
  processes,
  seconds,
});

test("durations are short to read", () => {
  expect([0, 59, 89, 90, 3000, 3900, 7260].map(formatDuration)).toEqual([
    "1 s",
    "59 s",
    "89 s",
    "2 min",
    "50 min",
    "1 h 05 min",
    "2 h 01 min",
  ]);
});

test("the plan lists each scenario once, with all its runtimes", () => {
  const steps = [
    step("ipc", "node", 10, 20),
    step("ipc", "bun", 10, 10),
    step("cold", "bun", 4, 5),
  ];
  const [head, ipc, cold, last] = describePlan(steps, "/tmp/out/").split("\n");
  expect(head).toBe("2 scenarios, 24 processes, about 35 s:");
  expect(ipc).toMatch(/^ {2}ipc +30 s {2}node, bun$/);
  expect(cold).toMatch(/^ {2}cold +5 s {2}bun$/);
  expect(last).toContain("/tmp/out/");
});

test("a kept result of the same kind tells how long a scenario takes", () => {
  const folder = mkdtempSync(join(tmpdir(), "heddle-progress-"));
  const file = join(folder, "ipc.json");
  const guess = expectedSeconds(file, 10, true);
  expect(guess).toBeGreaterThan(0);
  writeFileSync(file, JSON.stringify({ seconds: 77, isQuick: true }));
  expect(expectedSeconds(file, 10, true)).toBe(77);
  expect(expectedSeconds(file, 10, false)).toBeGreaterThan(guess);
  rmSync(folder, { recursive: true });
});

test("the time left follows the pace of what is done", () => {
  let now = 0;
  const steps = [step("a", "node", 2, 10), step("b", "node", 2, 30)];
  const progress = new Progress(steps, () => now);
  expect(progress.secondsLeft()).toBe(40);
  progress.startProcess("one");
  progress.startProcess("two");
  now = 20; // twice as long as expected
  progress.endStep();
  expect(progress.secondsLeft()).toBe(60);
  // A terminal has another order.
  const text = progress.describe("heddle");
  expect(text).toContain("2/2 node b: heddle");
  expect(text).toContain("about 60 s left");
  progress.endStep();
  expect(progress.secondsLeft()).toBe(0);
});

test("the summary has a table of 80 columns for each runtime", () => {
  const results = new URL("../../results/", import.meta.url).pathname;
  const lines = summaryOf(results).split("\n");
  expect(lines).toHaveLength(3 * (1 + 4 + 1) + 1);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
  expect(lines[0]).toMatch(/^node, median +heddle +bare worker +Piscina +Tinypool$/);
  expect(lines[1]).toMatch(/^one object, hot +[\d.]+ [µm]s +[\d.]+ [µm]s [\d.]+×/);
  expect(summaryOf("/nowhere/")).toBe("");
});

test("the speed-up of all cores is one line", () => {
  const file = new URL("../../results/node/heavy-load.json", import.meta.url);
  const result = JSON.parse(readFileSync(file, "utf8")) as ScenarioResult;
  expect(speedUpOf(result)).toMatch(
    /^node: all primes up to 10,000,000 in \d+ ms by main \+ \d threads?, [\d.]+ × as fast/,
  );
  expect(reportOf(result)).toMatch(
    /^heavy-load, .+ × 2, .+, node 26\.\d+\.\d+, heddle \w+; ms by workers: 0: \d+, 1: \d+ \(\d+\), 2: \d+ \(\d+\)$/,
  );
});
