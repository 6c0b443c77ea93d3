/** Modules that were compiled and have source maps: workers load what runs, not what it was made from. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runFile, runtimeName } from "../support/runtime.ts";

const heddle = new URL("../../src/mod.ts", import.meta.url).href;

/** Each line is the same line of the source. */
const map = JSON.stringify({
  version: 3,
  sources: ["../src/main.ts"],
  sourcesContent: ["//\n".repeat(40)],
  names: [],
  mappings: `AAAA${";AACA".repeat(40)}`,
});
const inline = `data:application/json;base64,${Buffer.from(map).toString("base64")}`;

const hooks: Readonly<Record<string, string>> = {
  none: "",
  "a stackTraceLimit of 0": "Error.stackTraceLimit = 0;",
  "a prepareStackTrace that returns text":
    "Error.prepareStackTrace = (error, sites) => String(error) + sites.join();",
  "a prepareStackTrace that returns frames": "Error.prepareStackTrace = (_, sites) => sites;",
  "a prepareStackTrace that throws": 'Error.prepareStackTrace = () => { throw new Error("x"); };',
  "a prepareStackTrace that cannot be assigned":
    'Object.defineProperty(Error, "prepareStackTrace", { get: () => String, set() {}, configurable: true });',
};

const program = `import { createPool, isMain, task } from ${JSON.stringify(heddle)};
export const bare = (n) => n + 1;
const declared = task({ f: (n) => n + 2 });
if (isMain) {
  const hook = Object.getOwnPropertyDescriptor(Error, "prepareStackTrace");
  const pools = [
    createPool({ threads: 1 })({ bare, declared }),
    createPool({ threads: 1 })("./tasks.mjs"),
  ];
  const after = Object.getOwnPropertyDescriptor(Error, "prepareStackTrace");
  const isSame = after?.value === hook?.value && after?.get === hook?.get;
  const [first, second] = pools;
  const results = [first.call.bare(1), first.call.declared(1), second.call.add(1)];
  console.log(JSON.stringify(await Promise.all(results)), isSame);
  await Promise.all(pools.map((pool) => pool.shutdown()));
}
`;

let root = "";
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "heddle-compiled-"));
  mkdirSync(join(root, "dist"));
  write("tasks.mjs", "export const add = (n) => n + 3;\n");
  write("main.mjs.map", map);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const file = join(root, "dist", name);
  writeFileSync(file, text);
  return file;
}

describe.each([
  ["a map beside it", "main.mjs.map", "", []],
  ["a map in it", inline, "", []],
  ["a map that the runtime applies", inline, "// @bun\n", ["--enable-source-maps"]],
])("a compiled module with %s finds its tasks with", (_, url, head, flags) => {
  test.each(Object.keys(hooks))("%s", async (name) => {
    write("hooks.mjs", hooks[name]!);
    const text = `${head}import "./hooks.mjs";\n${program}//# sourceMappingURL=${url}\n`;
    const engineFlags = runtimeName === "node" ? flags : [];
    const finished = await runFile(write("main.mjs", text), engineFlags);
    expect(finished).toEqual({ code: 0, output: "[2,3,4] true\n" });
  });
});
