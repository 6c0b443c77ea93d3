/** `heddle/core` as it is published: what threads load, by `import` and by `require`, and inside bundles. */
import { build } from "esbuild";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inFolder, run, runtimes, useProject } from "../support/package.ts";

const project = useProject(({ folder }) => {
  writeFileSync(join(folder, "tasks.mjs"), tasks);
  writeFileSync(join(folder, "main.mjs"), main);
  writeFileSync(join(folder, "main.cjs"), commonJs);
});

const tasks = `
export const add = (a, b) => a + b;
export const double = (n) => 2 * n;
export function* count(to) { for (let n = 1; n <= to; n++) yield n; }
`;
const uses = `
  const plain = createPool({ threads: 1 })(url);
  const pool = createPool({ threads: 1, use: [map()] })(url);
  const list = [];
  for await (const item of pool.map(pool.call.double, [1, 2])) list.push(item);
  for await (const item of pool.call.count(2)) list.push(item);
  let missing;
  try { plain.map; } catch (error) { missing = error.message.split(":")[0]; }
  console.log(await plain.call.add(1, 2), JSON.stringify(list), missing);
  await Promise.all([plain.shutdown(), pool.shutdown()]);
`;
const main = `
import { createPool } from "heddle/core";
import { map } from "heddle/features/map";
const url = new URL("./tasks.mjs", import.meta.url);
${uses}
`;
const commonJs = `
const { createPool } = require("heddle/core");
const { map } = require("heddle/features/map");
(async () => {
  const url = require("node:url").pathToFileURL(__dirname + "/tasks.mjs");
  ${uses}
})();
`;
const expected = "3 [2,4,1,2] pool.map needs map()";

test.each(Object.keys(runtimes))("works on %s, by import and by require", async (name) => {
  for (const file of ["main.mjs", "main.cjs"]) {
    expect([file, await run([...runtimes[name]!, file], project.folder)])
      .toEqual([file, expected]);
  }
});

/** The files of heddle that the threads of a program load: of the host, and of each worker. */
async function filesOf(source: string): Promise<readonly (readonly string[])[]> {
  return await inFolder(async (coverage) => {
    writeFileSync(join(project.folder, "loads.mjs"), source);
    const command = ["env", `NODE_V8_COVERAGE=${coverage}`, ...runtimes["Node 26"]!, "loads.mjs"];
    expect(await run(command, project.folder)).toBe("");
    const scripts = readdirSync(coverage).toSorted((a, b) =>
      Number(a.match(/(\d+)\.json$/)![1]) - Number(b.match(/(\d+)\.json$/)![1])
    ).map((file) =>
      (JSON.parse(readFileSync(join(coverage, file), "utf8")) as { result: { url: string }[] })
        .result.flatMap(({ url }) => /heddle\/dist\/(.*)$/.exec(url)?.[1] ?? []).toSorted()
    );
    return scripts;
  });
}

test.each([
  ["none", "", "", ["core.js"], ["heddle-core-worker.js"]],
  [
    "limits",
    'import { limits } from "heddle/features/limits";',
    "limits()",
    ["core-host.js", "core.js", "features/limits.js"],
    ["heddle-core-worker.js", "heddle-core-worker/limits.js"],
  ],
  [
    "map, with those that it needs",
    'import { map } from "heddle/features/map";',
    "map()",
    ["core-host.js", "core.js", "features/limits.js", "features/map.js", "features/streams.js"],
    ["limits", "map", "streams"].reduce(
      (files, name) => [...files, `heddle-core-worker/${name}.js`],
      ["heddle-core-worker.js"],
    ),
  ],
])("host and worker load the features in use alone: %s", async (_, imports, use, host, worker) => {
  const files = await filesOf(`
    import { createPool } from "heddle/core";
    ${imports}
    const pool = createPool({ threads: 1, use: [${use}] })(new URL("./tasks.mjs", import.meta.url));
    if (await pool.call.add(1, 2) !== 3) throw new Error("no sum");
    await pool.shutdown();
  `);
  expect(files).toEqual([host, worker]);
});

const bundled = (own: string): string => `
import { createPool, isMain } from "heddle/core";
import { map } from "heddle/features/map";
import { values } from "heddle/features/values";
import { task } from "heddle/task";
${own}
const add = task({ f: (a, b) => a + b });
const count = task({ f: function* (to) { for (let n = 1; n <= to; n++) yield n; } });
const test = task({ f: (pattern) => pattern.test("a") });
async function run() {
  const plain = createPool({ threads: 1 })({ add, test });
  const pool = createPool({ threads: 1, use: [map(), values()] })({ add, count, test });
  const list = [];
  for await (const item of pool.call.count(2)) list.push(item);
  const refused = await plain.call.test(/a/).catch((error) => error.code);
  console.log(await plain.call.add(1, 2), await pool.call.test(/a/), list.join(), refused);
  await Promise.all([plain.shutdown(), pool.shutdown()]);
  if (typeof beside === "function") await beside();
}
if (isMain) void run();
`;
const beside = `
import { createPool as create, isMain as isFirst } from "heddle";
async function beside() {
  const pool = create({ threads: 1 })({ add, count, test });
  let sum = 0;
  for await (const item of pool.call.count(3)) sum += item;
  console.log(await pool.call.test(/b/), sum, isFirst);
  await pool.shutdown();
}
`;

describe.each([["one file", false], ["several files", true]])(
  "in a bundle of %s",
  (_, splitting) => {
    test.each([
      ["alone", "", "3 true 1,2 HEDDLE_DATA_CLONE"],
      ["beside heddle", beside, "3 true 1,2 HEDDLE_DATA_CLONE\nfalse 6 true"],
    ])("%s", async (_, own, output) => {
      await inFolder(async (folder) => {
        mkdirSync(folder, { recursive: true });
        await build({
          stdin: { contents: bundled(own), resolveDir: project.folder, sourcefile: "main.mjs" },
          bundle: true,
          minify: true,
          splitting,
          platform: "node",
          format: "esm",
          outExtension: { ".js": ".mjs" },
          entryNames: "main",
          outdir: folder,
        });
        for (const name of Object.keys(runtimes)) {
          expect([name, await run([...runtimes[name]!, "main.mjs"], folder)]).toEqual([
            name,
            output,
          ]);
        }
      });
    });
  },
);
