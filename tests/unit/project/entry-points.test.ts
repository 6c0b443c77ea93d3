/** What the entry points export, and what importing them loads. */
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import * as light from "../../../src/mod-task.ts";
import * as whole from "../../../src/mod.ts";
import { VERSION } from "../../../src/version.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");
// deno-lint-ignore no-explicit-any -- whatever is in the file
const json = (path: string): any => JSON.parse(read(path));

/** Files that `entry` imports at once, directly or not: neither types nor what `import()` loads later. */
function loadedBy(entry: string): Set<string> {
  const loaded = new Set<string>();
  const visit = (path: string): void => {
    if (loaded.has(path)) return;
    loaded.add(path);
    const imports = read(`src/${path}`).matchAll(
      /^(?:import|export) (?!type\b)(?:([^;"]*?) from )?"(\.[^"]+)"/gms,
    );
    for (const [, names = "*", specifier] of imports) {
      // Only names of types.
      const isErased = /^\{[^}]*\}$/.test(names) &&
        names.slice(1, -1).split(",").every((name) => /^\s*(?:type\s|$)/.test(name));
      if (!isErased) visit(posix.join(posix.dirname(path), specifier!));
    }
  };
  visit(entry);
  return loaded;
}

test("heddle re-exports every object of heddle/task", () => {
  expect(Object.keys(light).length).toBeGreaterThan(20);
  expect(whole).toMatchObject(light);
  for (const [name, value] of Object.entries(light)) {
    expect((whole as Record<string, unknown>)[name]).toBe(value);
  }
});

test("package and JSR have the same entry points, and the build writes them", () => {
  const { exports, sideEffects } = json("package.json");
  const jsr = json("deno.json").exports as Record<string, string>;
  // The build puts the adapter of browsers in the place of another: the sources alone have none, nor has JSR.
  const names = Object.keys(exports)
    .filter((name) => !/^\.\/(?:package\.json|browser|core\/worker)/.test(name));
  // The build reads them of deno.json.
  const ofFeatures = Object.keys(jsr).filter((name) => name.startsWith("./features/"));
  expect(names.flatMap((name) => name === "./features/*" ? ofFeatures : [name]))
    .toEqual(Object.keys(jsr));
  const config = read("tsup.config.ts");
  for (const name of names) {
    const { browser, ...conditions } = exports[name] as Record<string, { default: string }>;
    if (name === "./core" || name === "./features/*") {
      // One copy, which the features add to: CommonJS loads it by `require` as well.
      const entry = name.slice(2);
      expect(browser!.default).toBe(`./dist/browser/${entry}.js`);
      expect(conditions).toEqual({
        types: `./dist/${entry}.d.ts`,
        module: `./dist/bundle/${entry}.js`,
        default: `./dist/${entry}.js`,
      });
      continue;
    }
    const entry = conditions["import"]!.default.replace(/^\.\/dist\/(.*)\.js$/, "$1");
    const inBrowsers = [".", "./task"].includes(name) ? `./dist/browser/${entry}.js` : undefined;
    expect(browser?.default).toBe(inBrowsers);
    expect(conditions).toEqual({
      import: {
        types: `./dist/${entry}.d.ts`,
        module: `./dist/bundle/${entry}.js`,
        default: `./dist/${entry}.js`,
      },
      require: { types: `./dist/${entry}.d.cts`, default: `./dist/${entry}.cjs` },
    });
    const source = jsr[name]!.replace("./", "");
    expect(config).toMatch(new RegExp(`entries: [^{]*\\{[^}]*"?${entry}"?: "${source}"`));
  }
  expect(sideEffects).toEqual([
    // heddle/shared gives threads that start later their part in the data.
    "./dist/bundle/shared.js",
    "./dist/shared.js",
    "./dist/shared.cjs",
    "./dist/bundle/heddle-worker.js",
    "./dist/heddle-worker.js",
    "./dist/bundle/heddle-core-worker.js",
    "./dist/heddle-core-worker.js",
    // These set what lanes need in browsers.
    "./dist/browser/**",
    "./src/features/workers/mirror/install.ts",
    "./src/mod-browser.ts",
    "./src/mod-browser-worker.ts",
    "./src/mod-browser-core.ts",
    "./src/mod-browser-core-worker.ts",
    "./src/mod-core-worker.ts",
    "./src/mod-shared.ts",
    "./src/mod-worker.ts",
    "./src/shared/**",
  ]);
});

test("workers refuse hosts of other versions, so the version in the code is that of the package", () => {
  expect(VERSION).toBe(json("package.json").version);
  expect(VERSION).toBe(json("deno.json").version);
});

test("heddle/task loads no pools and no encoders", () => {
  const loaded = [...loadedBy("mod-task.ts")];
  expect(loaded).toContain("features/values/structs/schema/schema.ts");
  const heavy = /^(?:host|ring|sync|lane|worker)\/|runtimes\/(?!runtime)|encoder|decoder/;
  expect(loaded.filter((path) => heavy.test(path))).toEqual([]);
});

test("only `struct()` loads the code for structs", () => {
  expect(loadedBy("features/values/structs/schema/schema.ts")).toContain(
    "features/values/structs/codec/compile.ts",
  );
  const code = /structs\/codec\/(?:compile|plan|scalars|schema|struct-codec|views)/;
  for (const entry of ["mod-worker.ts", "features/create-pool.ts"]) {
    const loaded = [...loadedBy(entry)];
    expect(loaded).toContain("codec/decoder.ts");
    expect(loaded.filter((path) => code.test(path))).toEqual([]);
  }
});

test("no module imports a builtin of Node: each import costs a start 0.2 ms or more", () => {
  const loaded = [...loadedBy("mod.ts"), ...loadedBy("mod-worker.ts")];
  const builtins = loaded.flatMap((path) =>
    [...read(`src/${path}`).matchAll(/^import (?!type)[^;]*"(node:[^"]+)"/gm)].map((m) => m[1]!)
  );
  expect(builtins).toEqual([]);
});
