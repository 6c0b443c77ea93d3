/** ARCHITECTURE.md shows the way of a call as it is. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { capabilities } from "../../support/runtime.ts";

const page = new URL("../../../ARCHITECTURE.md", import.meta.url);
const fixture = fileURLToPath(new URL("../../fixtures/way-of-a-call.ts", import.meta.url));

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
    const { host, worker } = JSON.parse(printed) as { host: string[]; worker: string[] };
    expect(host.length).toBeGreaterThan(10);
    expect(worker.length).toBeGreaterThan(10);
    expect(shownFiles().toSorted()).toEqual([...new Set([...host, ...worker])].sort());
  },
);
