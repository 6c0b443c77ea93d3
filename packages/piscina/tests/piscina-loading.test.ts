/** How `@heddle/piscina` loads the files of tasks, and what their threads are: as Piscina does it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { getEnvironmentData } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { SharedMap } from "heddle/shared";
import type Piscina from "@heddle/piscina";
import type { PiscinaOptions } from "@heddle/piscina";
import { rejection } from "../../../tests/support/conformance.ts";
import { piscinaPool } from "./pools.ts";
import { capabilities } from "../../../tests/support/runtime.ts";
import { temporaryFolder } from "../../../tests/support/temporary-folder.ts";

const { resolve } = createRequire(import.meta.url);
const urlOf = (name: string): string => pathToFileURL(resolve(name)).href;

type Files = Readonly<Record<string, string>>;

/** Writes files into a folder of their own. */
function folderOf(files: Files): string {
  const folder = temporaryFolder();
  for (const [name, source] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), source);
  }
  return folder;
}

/** A pool whose file is the first of these. */
function poolOf(files: Files, options: (folder: string) => PiscinaOptions = () => ({})): Piscina {
  const folder = folderOf(files);
  const [first] = Object.keys(files);
  return piscinaPool({ filename: join(folder, first!), ...options(folder) });
}

describe("workerData of node:worker_threads", () => {
  const tell = "import threads, { workerData } from 'node:worker_threads';" +
    "export default () => [workerData, threads.workerData === workerData];";

  test.each([
    ["an object", { list: [1n, new Map([[1, new Date(2)]])], words: new Uint16Array([3]) }],
    ["null", null],
  ])("is the pool's, by name: %s", async (_kind, workerData) => {
    const [data, isSame] = await poolOf({ "tell.mjs": tell }, () => ({ workerData })).run(0);
    expect(data).toEqual(workerData);
    expect(isSame).toBe(true);
  });

  test("shares the memory of the pool's", async () => {
    const words = new Int32Array(new SharedArrayBuffer(4));
    const add = "const { workerData } = require('node:worker_threads');" +
      "module.exports = (n) => Atomics.add(workerData.words, 0, n);";
    await poolOf({ "add.cjs": add }, () => ({ workerData: { words } })).run(7);
    expect(words[0]).toBe(7);
  });

  test("holds shared objects, in both places", async () => {
    const counts = new SharedMap<string, number>();
    const piscina = poolOf({
      "count.mjs": `import ${JSON.stringify(urlOf("heddle/shared"))};` +
        `import { workerData } from ${JSON.stringify(urlOf("@heddle/piscina"))};` +
        "export default (key) => void workerData.counts.set(key, 5);",
    }, () => ({ workerData: { counts } }));
    await piscina.run("a");
    expect(counts.get("a")).toBe(5);
  });

  test("is a copy of what the pool had when the worker began", async () => {
    const workerData = { state: "before" };
    const piscina = poolOf({ "tell.mjs": tell }, () => ({ workerData }));
    workerData.state = "after";
    expect((await piscina.run(0))[0]).toEqual({ state: "before" });
    await piscina.threads[0]!.terminate();
    expect((await piscina.run(0))[0]).toEqual({ state: "after" });
  });
});

/** What ts-node/register, esbuild-register and @babel/register do. */
const HOOK = `const { readFileSync } = require("node:fs");
for (const extension of [".ts", ".js"]) {
  require("node:module")._extensions[extension] = (module, path) => {
    const source = readFileSync(path, "utf8").replaceAll("COMPILED", "true")
      .replace(/enum E { A = 7 }/, "const E = { A: 7 };")
      .replace(/import { (\\w+) } from ("[^"]+");/g, "const { $1 } = require($2);")
      .replace("export default", "module.exports =");
    module._compile(source, path);
  };
}
`;

describe.runIf(capabilities.requireHooks)("hooks of require", () => {
  test.each([
    ["an enum.ts", "enum E { A = 7 }\nmodule.exports = (n) => n * E.A;", 42],
    ["macro.js", "module.exports = (n) => [n, COMPILED];", [6, true]],
    [
      "syntax.js",
      'import { sep } from "node:path";\nexport default (n) => [n, sep.length, COMPILED];',
      [6, 1, true],
    ],
  ])("that a flag has registered compile %s", async (name, source, result) => {
    const piscina = poolOf(
      { [name]: source, "hook.cjs": HOOK },
      (folder) => ({ execArgv: ["--require", join(folder, "hook.cjs")] }),
    );
    expect(await piscina.run(6)).toEqual(result);
  });
});

describe.runIf(capabilities.execArgv)("modules that a flag imports into the threads", () => {
  const SEEN = `import threads, { workerData } from "node:worker_threads";
globalThis.seen = [workerData, threads.workerData];`;
  const files = { "main.mjs": "export default () => globalThis.seen;", "seen.mjs": SEEN };
  const seen = (folder: string): string => join(folder, "seen.mjs");
  const loaned = (): unknown => getEnvironmentData("heddle.piscina.workerData");

  test.each([
    ["in one text", (folder: string) => [`--import=${seen(folder)}`]],
    ["in two", (folder: string) => ["--import", seen(folder)]],
  ])("see workerData, with flags %s", async (_, flags) => {
    const workerData = { a: 1 };
    const piscina = poolOf(files, (folder) => ({ execArgv: flags(folder), workerData }));
    expect(loaned()).toBeUndefined();
    expect(await piscina.run(0)).toEqual([workerData, workerData]);
  });

  test("see nothing of data that only heddle can copy", async () => {
    const piscina = poolOf(files, (folder) => ({
      execArgv: [`--import=${seen(folder)}`],
      workerData: new SharedMap(),
    }));
    expect(await piscina.run(0)).toEqual([undefined, undefined]);
    expect(loaned()).toBeUndefined();
  });
});

describe("CommonJS", () => {
  test("a file has a parent, and the thread a main module that is not the file", async () => {
    const piscina = poolOf({
      "main.cjs":
        "const { main } = require; const isMain = main === module, isParent = main === module.parent;" +
        "module.exports = () => [typeof module.parent, typeof process.mainModule, isMain, isParent];",
    });
    const expected = ["object", "object", false, capabilities.setsRequireMain];
    expect(await piscina.run(0)).toEqual(expected);
  });

  test("the exports of a compiled ES module are its functions", async () => {
    const piscina = poolOf({
      "compiled.cjs": 'Object.defineProperty(exports, "__esModule", { value: true });' +
        "exports.default = (n) => n + 1; exports.other = async (n) => n + 2;",
    });
    expect(await Promise.all([piscina.run(1), piscina.run(1, { name: "other" })])).toEqual([2, 3]);
  });

  test("module.exports is the default, and its properties are the others", async () => {
    const piscina = poolOf({
      "common.cjs":
        "const list = { add: (n) => n + 1 }; list['by' + 2] = (n) => n * 2; module.exports = list;",
    }, () => ({ name: "add" }));
    expect(await Promise.all([piscina.run(1), piscina.run(4, { name: "by2" })])).toEqual([2, 8]);
    const error = await rejection(piscina.run(1, { name: "default" }));
    expect((error as Error).message).toMatch(/^No handler function exported from .*common\.cjs$/);
  });

  test("module.exports may be a promise", async () => {
    const source = "module.exports = Promise.resolve((n) => n + 1);";
    expect(await poolOf({ "promise.cjs": source }).run(1)).toBe(2);
  });

  test("a path without its extension, and a folder", async () => {
    const piscina = poolOf({ "named.js": "module.exports = () => 'named';" }, (folder) => ({
      filename: join(folder, "named"),
    }));
    expect(await piscina.run(0)).toBe("named");
    const folder = folderOf({ "index.js": "module.exports = () => 'folder';" });
    expect(await piscina.run(0, { filename: folder })).toBe("folder");
  });
});

describe("ES modules", () => {
  test("are evaluated once, with an await at their top or without", async () => {
    const count = "globalThis.count = (globalThis.count ?? 0) + 1;";
    const piscina = poolOf({
      "plain.mjs": `${count} export default () => globalThis.count;`,
      "awaits.mjs": `${count} await 1; export default () => globalThis.count;`,
    });
    expect(await piscina.run(0)).toBe(1);
    const filename = join(dirname(piscina.options.filename!), "awaits.mjs");
    expect(await piscina.run(0, { filename })).toBe(2);
  });

  test("and CommonJS files are the same that others of them import", async () => {
    const piscina = poolOf({
      "state.mjs": "let n = 0; export default () => ++n;",
      "state.cjs": "let n = 0; module.exports = () => ++n;",
      "user.mjs": 'import one from "./state.mjs"; import other from "./state.cjs";' +
        "export default () => [one(), other()];",
    });
    const fileOf = (name: string): string => join(dirname(piscina.options.filename!), name);
    expect(await piscina.run(0)).toBe(1);
    expect(await piscina.run(0, { filename: fileOf("state.cjs") })).toBe(1);
    expect(await piscina.run(0, { filename: fileOf("user.mjs") })).toEqual([2, 2]);
  });

  test("that fail, and files that are missing, reject with what import says", async () => {
    const piscina = poolOf({
      "works.mjs": "export default () => 1;",
      "fails.mjs": 'throw new RangeError("cannot be loaded");',
      "syntax.mjs": "export default () => {",
    });
    const errorOf = (name: string): Promise<unknown> =>
      rejection(piscina.run(0, { filename: join(dirname(piscina.options.filename!), name) }));
    expect(await errorOf("fails.mjs")).toMatchObject({
      name: "RangeError",
      message: "cannot be loaded",
    });
    expect(await errorOf("syntax.mjs")).toBeInstanceOf(Error);
    expect(await errorOf("missing.mjs")).toBeInstanceOf(Error);
    expect(await piscina.run(0)).toBe(1);
  });
});
