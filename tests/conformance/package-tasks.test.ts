/** Tasks, setup modules and contexts of packages, by name, as `import` finds them from the calling module. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPool, importTask, InvalidArgumentError, type PoolOptions } from "../../src/mod.ts";
import { closedAfterTest } from "../support/conformance.ts";
import { capabilities, runFile } from "../support/runtime.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "heddle-packages-")));
afterAll(() => rmSync(folder, { recursive: true }));

const taskNamed = (text: string): string => `export const name = () => ${JSON.stringify(text)};\n`;

const heddle = new URL("../../src/mod.ts", import.meta.url).href;

const packages = "program/node_modules";
const files: Readonly<Record<string, unknown>> = {
  "program/package.json": {
    name: "program",
    exports: { "./own": "./own.mjs" },
    imports: { "#tasks": "./own.mjs", "#acme/*": "@acme/tasks/*" },
  },
  "program/own.mjs": taskNamed("own"),
  "program/plain.mjs": taskNamed("plain"),
  "program/src/conditions.mjs": `import { createPool } from ${JSON.stringify(heddle)};
const pool = createPool({ threads: 1 })("@acme/tasks");
console.log(await pool.call.name());
await pool.shutdown();
`,
  "program/src/setup.mjs": 'export default () => "context";\n',
  [`${packages}/@acme/tasks/package.json`]: {
    exports: {
      ".": { require: "./wrong.cjs", "@acme/source": "./source.mjs", import: "./main.mjs" },
      "./images": { types: "./images.d.ts", default: ["./images.mjs"] },
      "./parts/*": "./lib/*.mjs",
      "./parts/secret": null,
    },
  },
  [`${packages}/@acme/tasks/source.mjs`]: taskNamed("source"),
  [`${packages}/@acme/tasks/main.mjs`]: taskNamed("main"),
  [`${packages}/@acme/tasks/images.mjs`]: taskNamed("images"),
  [`${packages}/@acme/tasks/lib/a/b.mjs`]: taskNamed("part"),
  [`${packages}/@acme/tasks/lib/secret.mjs`]: taskNamed("secret"),
  [`${packages}/old/package.json`]: { main: "lib" },
  [`${packages}/old/lib/index.js`]: 'exports.name = () => "old";\n',
  [`${packages}/old/more.js`]: 'exports.name = () => "more";\n',
  [`${packages}/run/package.json`]: { exports: "./run.mjs" },
  [`${packages}/run/run.mjs`]: "export const run = (context, task) => task() + context;\n",
};

beforeAll(() => {
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  }
});

interface Tasks {
  name(): string;
}

const moduleUrl = pathToFileURL(join(folder, "program/src/main.mjs"));
const nameIn = async (specifier: string, options: PoolOptions = {}): Promise<string> => {
  const create = createPool({ threads: 1, moduleUrl, ...options });
  return await closedAfterTest(create<Tasks>(specifier)).call.name();
};

test.each([
  ["@acme/tasks", "main"],
  ["@acme/tasks/images", "images"],
  ["@acme/tasks/parts/a/b", "part"],
  ["#acme/images", "images"],
  ["program/own", "own"],
  ["#tasks", "own"],
  ["old", "old"],
  ["old/more.js", "more"],
  ["../plain.mjs", "plain"],
  ["setup.mjs", undefined],
])("the tasks of %s", async (specifier, expected) => {
  if (expected === undefined) await expect(nameIn(specifier)).rejects.toThrow('"name"');
  else expect(await nameIn(specifier)).toBe(expected);
});

test.each(["@acme/none", "@acme/tasks/lib/a/b.mjs", "@acme/tasks/parts/secret", "#none", "@acme"])(
  "%s is not found",
  async (specifier) => {
    await expect(nameIn(specifier)).rejects.toThrow(InvalidArgumentError);
    await expect(nameIn(specifier)).rejects.toThrow(`No package and no file "${specifier}"`);
  },
);

test.each(["#nope", "?nope"])("%s is not this module", (specifier) => {
  expect(() => createPool({ threads: 1 })(specifier)).toThrow(
    `No package and no file "${specifier}"`,
  );
});

test.runIf(capabilities.tellsConditions)("conditions of the command line hold", async () => {
  const file = join(folder, "program/src/conditions.mjs");
  expect(await runFile(file, ["--conditions=@acme/source"])).toEqual({
    code: 0,
    output: "source\n",
  });
  expect(await runFile(file)).toEqual({ code: 0, output: "main\n" });
});

test("setup modules and contexts may come from packages, or be relative", async () => {
  const context = { capture: () => "!", run: "run" };
  expect(await nameIn("@acme/tasks", { context, worker: { setup: "./setup.mjs" } })).toBe("main!");
  const relative = { ...context, run: "../node_modules/run/run.mjs" };
  expect(await nameIn("old", { context: relative })).toBe("old!");
});

test("importTask() takes the name of a package that this module can import", () => {
  const tasks = { name: importTask({ href: "@acme/none" }) };
  expect(() => createPool({ threads: 1 })(tasks)).toThrow('No package and no file "@acme/none"');
});
