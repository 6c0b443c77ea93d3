/** `heddle/bundler`: TypeScript programs that name modules of tasks by URLs, built by real bundlers and run on Node. */
import { build, type BuildOptions, context, type PluginBuild, transform } from "esbuild";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Plugin, rollup } from "rollup";
import { build as vite, createServer } from "vite";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { esbuildPlugin, rollupPlugin } from "../../src/mod-bundler.ts";
import { run, runtimes, useProject } from "../support/package.ts";

const project = useProject();
const source = (name: string): string => join(project.folder, "src", name);
const NODE = ["Node 22", "Node 26"];

/** The sources. `main` prints 42, or the error of the call. */
const files: Readonly<Record<string, string>> = {
  "package.json": `{ "type": "module" }`,
  "twice.ts": `export const twice = (n: number): number => 2 * n;`,
  "tasks.ts": `import { twice } from "./twice.ts";
    interface Unused { readonly none: true }
    export const answer = (n: number): number => twice(n);`,
  "tasks.js": `export const name = () => "tasks.js";`,
  "nested.ts": `import { createPool } from "heddle";
    export async function answer(n: number): Promise<number> {
      const url = new URL("./tasks.ts?pool", import.meta.url);
      const pool = createPool({ threads: 1 })<typeof import("./tasks.ts")>(url);
      try { return await pool.call.answer(n); } finally { await pool.shutdown(); }
    }`,
  "fails.ts":
    `interface Unused { readonly none: true }\n\nexport const answer = (n: number): number => {
      throw new RangeError(String(n));
    };`,
  "broken.ts": `import "./nowhere.ts";`,
  "circle.ts": `export const other = new URL("./circle-2.ts?pool", import.meta.url);`,
  "circle-2.ts": `export const other = new URL("./circle.ts?pool", import.meta.url);`,
};

const program = (module: string, print = "error.code"): string =>
  `import { createPool, isMain } from "heddle";
  import { twice } from "./twice.ts";
  async function run(): Promise<void> {
    const pool = createPool({ threads: 1 })<typeof import("./tasks.ts")>(${module});
    console.log(await pool.call.answer(twice(10) + 1).catch((error) => ${print}));
    await pool.shutdown();
  }
  if (isMain) void run();`;

beforeAll(() => {
  mkdirSync(source(""));
  for (const [name, text] of Object.entries(files)) writeFileSync(source(name), text);
});

/** Builds the entry to `out`/main.mjs or main.cjs. */
type Build = (entry: string, out: string) => Promise<unknown>;

const withEsbuild = (options: BuildOptions): Build => (entry, out) =>
  build({
    entryPoints: { main: entry },
    outdir: out,
    bundle: true,
    platform: "node",
    logLevel: "silent",
    outExtension: { ".js": options.format === "esm" ? ".mjs" : ".cjs" },
    external: ["heddle"],
    plugins: [esbuildPlugin()],
    ...options,
  });

const typescript: Plugin = {
  name: "typescript",
  transform: async (code, id) =>
    id.endsWith(".ts") ? await transform(code, { loader: "ts", sourcemap: true }) : null,
};
const withRollup = (format: "es" | "cjs", ...plugins: Plugin[]): Build => async (entry, out) => {
  const bundle = await rollup({ input: { main: entry }, external: [/^heddle/], plugins });
  const [entryFileNames, chunkFileNames] = format === "es"
    ? ["[name].mjs", "[name]-[hash].mjs"]
    : ["[name].cjs", "[name]-[hash].cjs"];
  await bundle.write({ dir: out, format, entryFileNames, chunkFileNames });
};
const withVite: Build = (entry, out) =>
  vite({
    configFile: false,
    logLevel: "silent",
    base: "/app/",
    root: project.folder,
    plugins: [rollupPlugin()],
    build: {
      ssr: true,
      outDir: out,
      rolldownOptions: { input: { main: entry }, output: { entryFileNames: "[name].mjs" } },
    },
  });

const builds: Readonly<Record<string, Build>> = {
  "esbuild": withEsbuild({ format: "esm" }),
  "esbuild to CommonJS, its default": withEsbuild({}),
  "esbuild, split, in folders": withEsbuild({
    format: "esm",
    splitting: true,
    minify: true,
    chunkNames: "deep/chunks/[name]-[hash]",
    assetNames: "workers/[name]-[hash]",
  }),
  "Rollup": withRollup("es", rollupPlugin(), typescript),
  "Rollup to CommonJS": withRollup("cjs", typescript, rollupPlugin()),
  "Vite SSR": withVite,
};

/** What the built program prints on each runtime, alone with heddle. */
async function outputsOf(tool: Build, text: string, names: readonly string[] = NODE) {
  writeFileSync(source("main.ts"), text);
  const out = join(project.folder, "out");
  rmSync(out, { recursive: true, force: true });
  await tool(source("main.ts"), out);
  const main = readdirSync(out).find((name) => name.startsWith("main."))!;
  const outputs: string[] = [];
  for (const name of names) outputs.push(await run([...runtimes[name]!, main], out));
  return outputs;
}

describe.each(Object.keys(builds))("%s", (tool) => {
  test.each([
    [`new URL("./tasks.ts?pool", import.meta.url)`],
    ["new URL(\n'tasks.ts?pool',\nimport.meta.url,\n)"],
    [`import.meta.resolve("./tasks.ts?pool")`],
  ])("%s", async (module) => {
    expect(await outputsOf(builds[tool]!, program(module))).toEqual(["42", "42"]);
  });

  test("a module of tasks that names another", async () => {
    const text = program(`new URL("./nested.ts?pool", import.meta.url)`);
    expect(await outputsOf(builds[tool]!, text)).toEqual(["42", "42"]);
  });

  test("two modules that differ in their extension", async () => {
    const text = program(`new URL("./tasks.ts?pool", import.meta.url)`) +
      `export const other = new URL("./tasks.js?pool", import.meta.url);`;
    expect(await outputsOf(builds[tool]!, text)).toEqual(["42", "42"]);
  });

  test("what has no mark, and what is in comments and texts, stays", async () => {
    // esbuild has no import.meta.url in a CommonJS output.
    const url = tool.includes("CommonJS, its")
      ? `"/logo.png"`
      : `new URL("./logo.png", import.meta.url)`;
    const text = `/* new URL("./gone.ts?pool", import.meta.url) */
      const image = String(${url}).slice(-9);
      console.log(image, 'new URL("./gone.ts?pool", import.meta.url)');`;
    expect(await outputsOf(builds[tool]!, text, ["Node 26"])).toEqual([
      '/logo.png new URL("./gone.ts?pool", import.meta.url)',
    ]);
  });

  test("a module that is not there: the build fails, and names the module, its importer and the place", async () => {
    const text = `console.log(1);\nexport const u = new URL("./gone.ts?pool", import.meta.url);`;
    writeFileSync(source("main.ts"), text);
    const failure = await builds[tool]!(source("main.ts"), join(project.folder, "gone"))
      .then(() => expect.unreachable(), (error) => error);
    expect(failure.message)
      .toContain(`The module of tasks "./gone.ts" is not found from ${source("main.ts")}.`);
    if (tool.startsWith("esbuild")) {
      const [{ detail, location }] = failure.errors;
      expect([detail.code, location.line]).toEqual(["HEDDLE_INVALID_ARGUMENT", 2]);
    } else if (tool.startsWith("Rollup")) {
      expect([failure.pluginCode, failure.loc.line]).toEqual(["HEDDLE_INVALID_ARGUMENT", 2]);
    }
  });

  test("an error in a module of tasks fails the build", async () => {
    writeFileSync(source("main.ts"), program(`new URL("./broken.ts?pool", import.meta.url)`));
    await expect(builds[tool]!(source("main.ts"), join(project.folder, "broken")))
      .rejects.toThrow(/nowhere\.ts/);
  });
});

test.each([
  ["esbuild", withEsbuild({ format: "esm", plugins: [] })],
  ["Rollup", withRollup("es", typescript)],
])(
  "%s without the plugin leaves the URL, and the first call names the missing file",
  async (_, tool) => {
    const text = program(`new URL("./tasks.ts", import.meta.url)`, "error.code + error.message");
    const [output] = await outputsOf(tool, text, ["Node 26"]);
    expect(output).toMatch(/^HEDDLE_WORKER_START.*Cannot find module '.*tasks\.ts'/);
  },
);

describe("esbuild", () => {
  test("Deno and Bun run the output, and the sources with their mark", async () => {
    const text = program(`new URL("./tasks.ts?pool", import.meta.url)`);
    expect(await outputsOf(builds["esbuild"]!, text, ["Deno", "Bun"])).toEqual(["42", "42"]);
    for (const name of Object.keys(runtimes)) {
      expect([name, await run([...runtimes[name]!, source("main.ts")], project.folder)])
        .toEqual([name, "42"]);
    }
  });

  test("one output file; source maps lead to the sources, and are not shipped if they lie outside", async () => {
    const text = program(`new URL("./fails.ts?pool", import.meta.url)`, "error.stack");
    const out = join(project.folder, "mapped");
    writeFileSync(source("main.ts"), text);
    for (const sourcemap of [true, "external"] as const) {
      rmSync(out, { recursive: true, force: true });
      await build({
        entryPoints: [source("main.ts")],
        outfile: join(out, "main.mjs"),
        bundle: true,
        platform: "node",
        format: "esm",
        external: ["heddle"],
        sourcemap,
        plugins: [esbuildPlugin()],
      });
      const [tasks] = readdirSync(out).filter((name) => name.startsWith("fails-"));
      expect(readFileSync(join(out, tasks!), "utf8").includes("sourceMappingURL"))
        .toBe(sourcemap === true);
      if (sourcemap === true) {
        const node = [...runtimes["Node 26"]!, "--enable-source-maps", "main.mjs"];
        expect(await run(node, out)).toContain(`${source("fails.ts")}:4:13`);
      }
    }
  });

  test("modules that name each other in a circle are refused; one may name itself", async () => {
    const out = join(project.folder, "circle");
    await expect(withEsbuild({ format: "esm" })(source("circle.ts"), out))
      .rejects.toThrow(/name each other in a circle: .*circle-2\.ts, .*circle\.ts/);
    const text = `import { createPool, isMain } from "heddle";
      export const answer = () => 42;
      if (isMain) {
        const pool = createPool({ threads: 1 })(new URL("./main.ts?pool", import.meta.url));
        console.log(await pool.call["answer"]!());
        await pool.shutdown();
      }`;
    expect(await outputsOf(builds["esbuild"]!, text)).toEqual(["42", "42"]);
  });

  test("a build that watches sees changes of modules of tasks and what they import", async () => {
    const [main, tasks, helper] = ["watch.ts", "watched.ts", "watched-helper.ts"].map(source);
    writeFileSync(main!, `export const url = new URL("./watched.ts?pool", import.meta.url);`);
    writeFileSync(tasks!, `export { text } from "./watched-helper.ts";`);
    writeFileSync(helper!, `export const text = "first";`);
    const out = join(project.folder, "watch");
    const has = (text: string): boolean =>
      existsSync(out) && readdirSync(out)
        .some((name) => readFileSync(join(out, name), "utf8").includes(text));
    // esbuild calls plugins before it writes.
    const WAIT = { timeout: 30_000, interval: 20 };
    let ended = Promise.withResolvers<number>();
    const watching = await context({
      entryPoints: [main!],
      outdir: out,
      bundle: true,
      format: "esm",
      logLevel: "silent",
      plugins: [esbuildPlugin(), {
        name: "ended",
        setup: (build: PluginBuild) => build.onEnd(({ errors }) => ended.resolve(errors.length)),
      }],
    });
    /** Changes the file until a build has that many errors: esbuild does not tell what it has missed. */
    const change = async (text: string, errors: number): Promise<void> => {
      ended = Promise.withResolvers();
      writeFileSync(helper!, text);
      if (await ended.promise !== errors) await change(`${text} `, errors);
    };
    try {
      await watching.watch();
      expect(await ended.promise).toBe(0);
      await vi.waitFor(() => expect(has("first")).toBe(true), WAIT);
      await change(`export const text = "second";`, 0);
      await vi.waitFor(() => expect(has("second")).toBe(true), WAIT);
      await change(`export const text = ;`, 1);
      await change(`export const text = "third";`, 0);
      await vi.waitFor(() => expect(has("third")).toBe(true), WAIT);
    } finally {
      await watching.dispose();
    }
  });
});

test("Vite's server for SSR runs the sources", async () => {
  writeFileSync(
    source("main.ts"),
    `import { createPool } from "heddle";
    export const pool = createPool({ threads: 1 })(new URL("./tasks.ts?pool", import.meta.url));`,
  );
  const server = await createServer({
    configFile: false,
    root: project.folder,
    logLevel: "silent",
    appType: "custom",
    plugins: [rollupPlugin()],
    server: { middlewareMode: true, hmr: false, ws: false },
  });
  const { pool } = await server.ssrLoadModule("/src/main.ts");
  try {
    expect(await pool.call.answer(21)).toBe(42);
  } finally {
    await pool.shutdown();
    await server.close();
  }
});
