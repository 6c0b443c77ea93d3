/**
 * What a fresh program runs and loads: functions of heddle until the second result, those that `shutdown()` needs beyond them, and
 * the bytes of the files. Each function has to be compiled once, which is most of what a start costs, and a count hardly depends on
 * how busy the machine is: values that host and worker send themselves meanwhile come before the first result or after it.
 * Limits only fall: a change that needs fewer lowers them.
 */
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { copy, root, run, runtimes, useProject } from "../support/package.ts";

interface Script {
  readonly url: string;
  readonly functions: readonly {
    readonly functionName: string;
    readonly ranges: readonly [{ readonly startOffset: number; readonly count: number }];
  }[];
}

interface Counts {
  /** Functions on the host until the second result, and in the worker until it ends. */
  readonly host: number;
  readonly worker: number;
  /** Further ones of the host. */
  readonly shutdown: number;
  /** Bytes of the files that the host has loaded by the second result, and the worker. */
  readonly hostBytes: number;
  readonly workerBytes: number;
}

const LIMITS: Counts = {
  host: 825,
  worker: 400,
  shutdown: 78,
  hostBytes: 350_000,
  workerBytes: 163_000,
};

const project = useProject(({ folder }) =>
  copy(join(root, "tests/fixtures/scripts/start-counts.ts"), join(folder, "start.mts"))
);

const isOwn = ({ url }: Script): boolean => url.includes("/node_modules/heddle/");

/** The functions that have run, by their places. */
function functionsOf(scripts: readonly Script[]): string[] {
  return scripts.filter(isOwn).flatMap(({ url, functions }) =>
    functions.filter(({ ranges: [{ count }] }) => count > 0)
      .map(({ ranges: [{ startOffset }], functionName }) => `${url}:${startOffset} ${functionName}`)
  );
}

function bytesOf(scripts: readonly Script[]): number {
  return scripts.filter(isOwn).reduce(
    (sum, { url }) => sum + statSync(fileURLToPath(url)).size,
    0,
  );
}

async function countStart(kind: "number" | "object"): Promise<Counts> {
  const folder = join(project.folder, `coverage-${kind}`);
  mkdirSync(folder);
  const command = ["env", `NODE_V8_COVERAGE=${folder}`, ...runtimes["Node 26"]!, "start.mts", kind];
  expect(await run(command, project.folder)).toBe("");
  // coverage-<process>-<milliseconds>-<thread>.json; the worker writes one, when it ends.
  const files = readdirSync(folder).map((name) => {
    const [, atMs = "", thread = ""] = name.match(/-(\d+)-(\d+)\.json$/) ?? [];
    const { result } = JSON.parse(readFileSync(join(folder, name), "utf8")) as { result: Script[] };
    return { atMs: Number(atMs), thread, result };
  }).sort((a, b) => a.atMs - b.atMs);
  const host = files.filter(({ thread }) => thread === "0").map(({ result }) => result);
  const worker = files.find(({ thread }) => thread !== "0")!.result;
  const seen = new Set<string>();
  const further = (scripts: readonly Script[]): number => {
    const before = seen.size;
    for (const name of functionsOf(scripts)) seen.add(name);
    return seen.size - before;
  };
  const [, start = [], second = [], end = []] = host;
  return {
    host: further(start) + further(second),
    worker: functionsOf(worker).length,
    shutdown: further(end),
    hostBytes: bytesOf(start),
    workerBytes: bytesOf(worker),
  };
}

describe.each(["number", "object"] as const)("a pool whose first call has one %s", (kind) => {
  test("runs and loads no more than before", async () => {
    const counts = await countStart(kind);
    console.log(kind, counts);
    for (const [name, limit] of Object.entries(LIMITS)) {
      const count = counts[name as keyof Counts];
      expect(count, name).toBeGreaterThan(limit * 0.9);
      expect(count, name).toBeLessThanOrEqual(limit);
    }
  });
});
