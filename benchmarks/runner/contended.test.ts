/** The processes of `contended`, the processes that compute beside, and what its page says. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import os from "node:os";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { startBusyProcesses } from "../harness/busy-process.ts";
import { toMarkdown } from "../harness/markdown.ts";
import type { Measurement, ScenarioResult } from "../harness/schema.ts";
import * as contended from "../scenarios/contended-cases.ts";
import { contendedContenders } from "./contended.ts";
import { findPrefix } from "./half-core.ts";
import type { Choices } from "./scenario.ts";

const choices = (isQuick: boolean): Choices => ({
  isQuick,
  threads: 2,
  soakMinutes: 1,
  delayMs: 1,
  hasKnitting: false,
});

let folder: string | undefined;
afterEach(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  folder = undefined;
});
const createFolder = (): string => folder = mkdtempSync(path.join(os.tmpdir(), "heddle-groups-"));

test("a full run has a process for each placement, with both settings of heddle in it", () => {
  // Without a runtime a list is asked for, which makes no group.
  const processes = contendedContenders(choices(false), "").filter(({ left }) => !left);
  expect(processes.map(({ name }) => name)).toEqual(contended.PLACEMENTS);
  for (const { variantOf, args } of processes) {
    expect(variantOf!.split(", ")).toEqual(expect.arrayContaining(["heddle", "bare worker"]));
    expect(args.join(" ")).toContain(contended.NEVER_SPINNING);
  }
  const quick = contendedContenders(choices(true), "").filter(({ left }) => !left);
  expect(quick.map(({ name }) => name)).toEqual(contended.QUICK_PLACEMENTS);
  expect(contended.PLACEMENTS).toEqual(expect.arrayContaining([...contended.QUICK_PLACEMENTS]));
});

test("as many processes beside as the placement says", () => {
  expect(contended.PLACEMENTS.map((placement) => contended.processesBeside(placement, 4))).toEqual([
    1,
    4,
    4,
    8,
    8,
    0,
    0,
  ]);
});

test.runIf(process.platform === "linux").each([false, true])(
  "busy processes compute until they are ended, in bursts: %s",
  async (isInBursts) => {
    const before = childrenOf(process.pid);
    const end = await startBusyProcesses(2, isInBursts);
    const own = childrenOf(process.pid).filter((pid) => !before.includes(pid));
    expect(own).toHaveLength(2);
    const startedAt = own.map(cpuTicksOf);
    while (own.some((pid, index) => cpuTicksOf(pid) <= startedAt[index]! + 2)) await pause();
    end();
    while (childrenOf(process.pid).some((pid) => own.includes(pid))) await pause();
  },
);

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10));
const statOf = (pid: string): string[] =>
  readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
const cpuTicksOf = (pid: string): number => Number(statOf(pid)[11]);

function childrenOf(parent: number): string[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).filter((pid) => {
    try {
      return statOf(pid)[1] === String(parent);
    } catch {
      return false; // It has ended meanwhile.
    }
  });
}

test("a machine without a group with processor time refuses half a core, and says why", () => {
  const found = findPrefix([
    { name: "one", folder: path.join(createFolder(), "absent"), limits: {} },
    // A folder that is no group has no such file.
    { name: "two", folder: folder!, limits: { "cpu.max": "1 2" } },
  ]);
  expect(found).toBeInstanceOf(Error);
  expect((found as Error).message).toMatch(/^one: ENOENT.*; two: ENOENT.*cpu\.max/);
  expect(readdirSync(folder!)).toEqual([]);
});

test("the command is in the group before it starts", () => {
  // The kernel would make the files.
  const group = path.join(createFolder(), "group");
  mkdirSync(group);
  writeFileSync(path.join(group, "cgroup.procs"), "");
  const prefix = findPrefix([{ name: "any", folder: folder!, limits: {} }]) as string[];
  const [file, ...args] = [...prefix.slice(0, -1), path.join(group, "cgroup.procs")];
  const { stdout, status } = spawnSync(file!, [...args, "sh", "-c", "echo $$ $0 $1", "a b", "c"]);
  expect(status).toBe(0);
  const pid = readFileSync(path.join(group, "cgroup.procs"), "utf8").trim();
  expect(String(stdout).trim()).toBe(`${pid} a b c`);
});

const measurement = (contender: string, name: string, p50: number, mean: number): Measurement => ({
  case: name,
  size: 1,
  contender,
  unit: "µs",
  p50,
  p75: p50,
  p99: p50,
  mean,
  min: p50,
  rounds: [[p50]],
  samples: 1,
});

test("the page tells mean and processor time beside the median, and why a part is missing", () => {
  const name = contended.caseOf(contended.BUSY, contended.AT_ONCE);
  const contenders = ["heddle", contended.NEVER_SPINNING, "bare worker"];
  const page = toMarkdown({
    scenario: "contended",
    runtime: "node",
    versions: {},
    machine: {},
    cases: [name, contended.cpuOf(name)],
    measurements: contenders.flatMap((contender, index) => [
      measurement(contender, name, 1 + index, 30 - 10 * index),
      measurement(contender, contended.cpuOf(name), 40 - 10 * index, 99),
    ]),
    failures: [{ contender: contended.HALF_CORE, reason: "no group here", isSkipped: true }],
  } as unknown as ScenarioResult);
  expect(page).toContain("| heddle | 1 | 1 | 30 | 1 | 40 | 3.00 | 2.00 |");
  expect(page).toContain(`| ${contended.NEVER_SPINNING} | 1 | 2 | 20 | 2 | 30 | 2.00 | 1.50 |`);
  expect(page).toContain(`Not measured: ${contended.HALF_CORE}: no group here`);
});
