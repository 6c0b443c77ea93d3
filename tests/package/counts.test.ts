/**
 * What a fresh program runs and loads: functions of heddle until the first result and until the second, those that `shutdown()` needs
 * beyond them, and the bytes of the files. Each function has to be compiled once. A busy machine runs a few more: the least of several
 * starts counts, and limits are about three above that of an idle machine. The safety check, every 100 ms, is left out. Limits only
 * fall: a change that needs fewer lowers them.
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
  /** Functions on the host until the first result. */
  readonly host: number;
  /** Until that of a second call. A busy machine runs some of those in the first. */
  readonly second: number;
  /** Further ones of `shutdown()`. */
  readonly shutdown: number;
  /** Functions of the worker until it ends. */
  readonly worker: number;
  /** Bytes of the files that the host has loaded by the first result, and the worker. */
  readonly hostBytes: number;
  readonly workerBytes: number;
}

const BYTES = { hostBytes: 242_750, workerBytes: 120_800 };
/** The first argument of a call, and the entry point. */
type Kind = "number" | "object" | "number heddle/core" | "object heddle/core";
const CORE_BYTES = { hostBytes: 202_000, workerBytes: 116_200 };
const LIMITS: Readonly<Record<Kind, Counts>> = {
  // Of a worker 2 or 3 run only if it waits for its host once more.
  number: { host: 317, second: 338, shutdown: 38, worker: 162, ...BYTES },
  object: { host: 397, second: 412, shutdown: 38, worker: 244, ...BYTES },
  "number heddle/core": { host: 311, second: 332, shutdown: 38, worker: 163, ...CORE_BYTES },
  "object heddle/core": { host: 391, second: 406, shutdown: 38, worker: 245, ...CORE_BYTES },
};
const STARTS = 8;

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

async function countStart(kind: Kind, start: number): Promise<Counts> {
  const folder = join(project.folder, `coverage-${kind.replaceAll(/\W/g, "-")}-${start}`);
  mkdirSync(folder);
  const command = [
    "env",
    `NODE_V8_COVERAGE=${folder}`,
    ...runtimes["Node 26"]!,
    "start.mts",
    ...kind.split(" "),
  ];
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
  const [, first = [], second = [], end = []] = host;
  const ofFirst = further(first);
  return {
    host: ofFirst,
    second: ofFirst + further(second),
    shutdown: further(end),
    worker: functionsOf(worker).length,
    hostBytes: bytesOf(first),
    workerBytes: bytesOf(worker),
  };
}

describe.each(Object.keys(LIMITS) as Kind[])("a pool whose first call has one %s", (kind) => {
  test("runs and loads no more than before", async () => {
    const least: Record<string, number> = {};
    const limits = Object.entries(LIMITS[kind]);
    const isWithin = (): boolean =>
      limits.every(([name, limit]) => (least[name] ?? Infinity) <= limit);
    for (let start = 0; start < STARTS && !isWithin(); start++) {
      for (const [name, count] of Object.entries(await countStart(kind, start))) {
        least[name] = Math.min(least[name] ?? Infinity, count);
      }
    }
    for (const [name, limit] of limits) {
      expect(least[name], name).toBeGreaterThan(limit * 0.7);
      expect(least[name], name).toBeLessThanOrEqual(limit);
    }
  });
});
