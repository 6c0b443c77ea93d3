/** ARCHITECTURE.md shows the way of a call as it is, and that way gets no longer. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { capabilities } from "../../support/runtime.ts";

const page = new URL("../../../ARCHITECTURE.md", import.meta.url);
const fixture = fileURLToPath(new URL("../../fixtures/way-of-a-call.ts", import.meta.url));

/** What a call may enter and run: a change that needs less lowers it. */
const MAX_FILES = 34;
const MAX_FUNCTIONS = { host: 48, worker: 38 };

/** The files in the picture of a call. */
function shownFiles(): string[] {
  const [, picture = ""] =
    /<!-- files of a call -->\s+```\n([\s\S]*?)```/.exec(readFileSync(page, "utf8")) ?? [];
  return [...picture.matchAll(/[\w/-]+\.ts/g)].map(([file]) => file);
}

test.runIf(capabilities.countsFunctions)(
  "the picture of a call names the files that a call enters, each once",
  () => {
    const printed = execFileSync(process.execPath, [fixture], { encoding: "utf8" });
    const { usual, all, functions: [host, worker] } = JSON.parse(printed) as {
      usual: string[];
      all: string[];
      functions: [number, number];
    };
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
