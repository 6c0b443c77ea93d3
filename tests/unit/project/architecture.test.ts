/** ARCHITECTURE.md shows the way of a call as it is, and that way gets no longer. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { capabilities } from "../../support/runtime.ts";

const page = new URL("../../../ARCHITECTURE.md", import.meta.url);
const fixture = fileURLToPath(new URL("../../fixtures/way-of-a-call.ts", import.meta.url));

/**
 * What a call may enter and run: a change that needs less lowers it. On some machines the host parks once in each of these calls, which
 * makes 59 functions; where it does so in some calls alone, 48 run in most of them.
 */
const MAX_FILES = 33;
const MAX_FUNCTIONS = { host: 59, worker: 36 };

/** A busy machine makes calls run more functions, such as those of the safety check: the least of so many runs counts. */
const RUNS = 20;

interface Way {
  readonly usual: readonly string[];
  readonly all: readonly string[];
  /** On the host and in the worker. */
  readonly functions: readonly [number, number];
}

function measureWay(): Way {
  return JSON.parse(execFileSync(process.execPath, [fixture], { encoding: "utf8" })) as Way;
}

/** The files in the picture of a call. */
function shownFiles(): string[] {
  const [, picture = ""] =
    /<!-- files of a call -->\s+```\n([\s\S]*?)```/.exec(readFileSync(page, "utf8")) ?? [];
  return [...picture.matchAll(/[\w/-]+\.ts/g)].map(([file]) => file);
}

test.runIf(capabilities.countsFunctions)(
  "the picture of a call names the files that a call enters, each once",
  () => {
    let [host, worker] = [Infinity, Infinity];
    let least: Way | undefined;
    const isWithin = (): boolean => host <= MAX_FUNCTIONS.host && worker <= MAX_FUNCTIONS.worker;
    for (let run = 0; run < RUNS && !isWithin(); run++) {
      const way = measureWay();
      const [ofHost, ofWorker] = way.functions;
      if (ofHost < host) least = way;
      host = Math.min(host, ofHost);
      worker = Math.min(worker, ofWorker);
    }
    const { usual, all } = least!;
    const shown = shownFiles();
    expect(shown.length).toBeGreaterThan(20);
    expect(new Set(shown).size).toBe(shown.length);
    expect(shown.length).toBeLessThanOrEqual(MAX_FILES);
    expect(host, "functions of the host").toBeLessThanOrEqual(MAX_FUNCTIONS.host);
    expect(worker, "functions of the worker").toBeLessThanOrEqual(MAX_FUNCTIONS.worker);
    expect(usual.filter((file) => !shown.includes(file)), "not shown").toEqual([]);
    expect(shown.filter((file) => !all.includes(file)), "not entered").toEqual([]);
  },
);
