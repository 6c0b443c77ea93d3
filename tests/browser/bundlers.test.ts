/** One program, bundled by each tool and by none, in pages with a strict policy, of the package as it is published. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build as esbuild, type Plugin } from "esbuild";
import type { Browser } from "playwright-core";
import { type Plugin as RollupPlugin, rollup } from "rollup";
import { build as vite, createServer, type PluginOption } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import webpack from "webpack";
import { esbuildPlugin, rollupPlugin } from "../../src/mod-bundler.ts";
import { hasBrowser, launchBrowser } from "../support/browser.ts";
import { inFolder, pack, root, run, unpack } from "../support/package.ts";
import { CORS, expected, ISOLATED, pageOf, resultOf, serveFolder, STRICT } from "./pages.ts";

let browser: Browser;
let project = "";
let remove = (): void => {};

beforeAll(async () => {
  if (hasBrowser) browser = await launchBrowser();
  await new Promise<void>((ready) =>
    void inFolder(async (folder) => {
      project = folder;
      unpack(pack(folder).tarball, folder);
      cpSync(join(root, "tests/browser/program"), join(folder, "src"), { recursive: true });
      ready();
      await new Promise<void>((done) => remove = done);
    })
  );
});
afterAll(async () => {
  await browser?.close();
  remove();
});

/** Builds the program into a folder, with a page that loads `main.js`. */
type Build = (out: string) => Promise<void>;

const source = (name: string): string => join(project, "src", name);

/** The files of the program, and the script of heddle's workers. */
const withUrl = (): Record<string, string> => ({
  main: source("with-url.js"),
  tasks: source("tasks.js"),
  worker: "heddle/browser/worker",
});

/** Vite and webpack, which know `new Worker(new URL(…))`. */
const viteBuild = (program: string, plugins: PluginOption[] = []): Build => async (out) => {
  await vite({
    plugins,
    root: project,
    logLevel: "silent",
    worker: { format: "es" },
    build: {
      outDir: out,
      rollupOptions: { input: source(program) },
      manifest: "files.json",
    },
  });
  const { default: files } = await import(join(out, "files.json"), {
    with: { type: "json" },
  }) as {
    default: Record<string, { file: string; isEntry?: boolean }>;
  };
  const main = Object.values(files).find(({ isEntry }) => isEntry)!.file;
  writeFileSync(join(out, "index.html"), pageOf(`/${main}`));
};
const webpackBuild = (program: string): Build => async (out) => {
  const compiler = webpack({
    mode: "production",
    context: project,
    entry: { main: source(program) },
    output: { path: out, filename: "[name].js", publicPath: "/" },
  })!;
  await new Promise<void>((resolve, reject) =>
    compiler.run((error, stats) => {
      if (error !== null || stats!.hasErrors()) reject(error ?? new Error(stats!.toString()));
      else resolve();
    })
  );
};
const esbuildBuild =
  (entries: () => Record<string, string>, plugins: Plugin[] = []): Build => async (out) => {
    await esbuild({
      plugins,
      entryPoints: entries(),
      outdir: out,
      bundle: true,
      splitting: true,
      format: "esm",
      conditions: ["browser"],
      absWorkingDir: project,
    });
  };
const rollupBuild =
  (entries: () => Record<string, string>, ...plugins: RollupPlugin[]): Build => async (out) => {
    const heddle = join(project, "node_modules/heddle/dist/browser");
    const bundle = await rollup({
      input: entries(),
      preserveEntrySignatures: "strict",
      plugins: [...plugins, {
        name: "resolve", // as @rollup/plugin-node-resolve with `browser: true`
        resolveId: (id) => {
          const [isHeddle, name] = /^heddle(?:\/(?:browser\/)?(.*))?$/.exec(id) ?? [];
          return isHeddle === undefined ? undefined : join(heddle, `${name ?? "mod"}.js`);
        },
      }],
    });
    await bundle.write({ dir: out, format: "es" });
  };

const withPlugin = (): Record<string, string> => ({ main: source("with-plugin.js") });

const builds: Readonly<Record<string, Build>> = {
  "Vite": viteBuild("with-workers.js"),
  "webpack": webpackBuild("with-workers.js"),
  "esbuild": esbuildBuild(withUrl),
  "Rollup": rollupBuild(withUrl),
  "Vite, with the plugin": viteBuild("with-plugin.js", [rollupPlugin()]),
  "webpack, with the query of the plugin": webpackBuild("with-plugin.js"),
  "esbuild, with the plugin": esbuildBuild(withPlugin, [esbuildPlugin()]),
  "Rollup, with the plugin": rollupBuild(withPlugin, rollupPlugin()),
};

describe.runIf(hasBrowser).each(Object.keys(builds))("%s", (tool) => {
  test.each([
    ["shared", { ...ISOLATED, ...STRICT }],
    ["messages", STRICT],
  ])("%s", async (transport, headers) => {
    const out = join(project, `out-${tool}`);
    mkdirSync(out, { recursive: true });
    if (transport === "shared") {
      writeFileSync(join(out, "index.html"), pageOf("/main.js"));
      await builds[tool]!(out);
    }
    const site = await serveFolder(out, headers);
    try {
      expect(await resultOf(browser, `${site.url}/index.html`)).toEqual(expected(transport));
    } finally {
      await site.close();
    }
  });
});

test.runIf(hasBrowser)("heddle/core, whose features Vite leaves out or splits", async () => {
  const out = join(project, "out-core");
  await vite({
    root: project,
    logLevel: "silent",
    worker: { format: "es" },
    build: { outDir: out, rollupOptions: { input: source("core.js") }, manifest: "files.json" },
  });
  const files = JSON.parse(readFileSync(join(out, "files.json"), "utf8")) as Record<
    string,
    { file: string; isEntry?: boolean }
  >;
  const main = Object.values(files).find(({ isEntry }) => isEntry)!.file;
  writeFileSync(join(out, "index.html"), pageOf(`/${main}`));
  for (
    const [headers, refused] of [
      [{ ...ISOLATED, ...STRICT }, "none"],
      [STRICT, "A page that shares no memory with its workers needs mirror()"],
    ] as const
  ) {
    const site = await serveFolder(out, headers);
    try {
      expect(await resultOf(browser, `${site.url}/index.html`))
        .toEqual(["3,4,5,0,1", "HEDDLE_TIMEOUT", refused]);
    } finally {
      await site.close();
    }
  }
});

test.runIf(hasBrowser).each([
  ["with-workers.js", {}],
  ["with-plugin.js", {}],
  ["with-url.js", { optimizeDeps: { exclude: ["heddle"] } }],
])("Vite's server, while developing: %s", async (program, options) => {
  writeFileSync(join(project, "index.html"), pageOf(`/src/${program}`));
  const server = await createServer({
    root: project,
    cacheDir: join(project, `cache-${program}`),
    logLevel: "silent",
    server: { headers: ISOLATED, port: 0, hmr: false },
    ...options,
  });
  await server.listen();
  try {
    const [url] = server.resolvedUrls!.local;
    expect(await resultOf(browser, url!)).toEqual(expected("shared"));
  } finally {
    await server.close();
  }
});

test("types of the page's own workers: by heddle/browser, or by heddle with a condition", async () => {
  const program = (name: string): string =>
    `import { createPool } from "${name}";
    export const pool = createPool()<typeof import("./tasks.ts")>(
      () => new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }),
    );
    export const sum: Promise<number> = pool.call.add(1, 2);`;
  const folder = join(project, "types");
  mkdirSync(folder, { recursive: true });
  const tasks = "export const add = (a: number, b: number): number => a + b;";
  writeFileSync(join(folder, "tasks.ts"), tasks);
  writeFileSync(join(folder, "by-browser.ts"), program("heddle/browser"));
  writeFileSync(join(folder, "by-name.ts"), program("heddle"));
  /** Files with errors. */
  const check = async (customConditions: readonly string[]): Promise<readonly string[]> => {
    const compilerOptions = {
      target: "ES2022",
      module: "ESNext",
      moduleResolution: "bundler",
      lib: ["ES2022", "DOM"],
      types: [],
      skipLibCheck: true,
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      customConditions,
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const output = await run([process.execPath, tsc, "-p", folder, "--pretty", "false"], folder);
    return [...new Set([...output.matchAll(/^([\w-]+\.ts)\(/gm)].map(([, file]) => file!))];
  };
  expect(await check([])).toEqual(["by-name.ts"]);
  expect(await check(["browser"])).toEqual([]);
});

describe.runIf(hasBrowser)("no bundler", () => {
  const importMap = (base: string): string => {
    const imports = {
      "heddle": `${base}/dist/browser/mod.js`,
      "heddle/task": `${base}/dist/browser/task.js`,
    };
    return `<script type="importmap">${JSON.stringify({ imports })}</script>`;
  };
  /** Workers have no import map. */
  const tasks = (base: string): string =>
    `export * from "${base}/dist/browser/task.js";\n` +
    "export const add = (a, b) => a + b;\n";

  test.each([
    ["files of the page's own origin", false],
    ["a CDN", true],
  ])("%s", async (_, isForeign) => {
    const cdn = await serveFolder(join(project, "node_modules/heddle"), CORS);
    const base = isForeign ? cdn.url : "/node_modules/heddle";
    writeFileSync(
      join(project, "plain.html"),
      `<!doctype html>${importMap(base)}<script type="module">
        import { createPool } from "heddle";
        const pool = createPool({ threads: 1 })(new URL("./plain-tasks.js", location.href));
        const report = await Promise.all([pool.call.add(1, 2), pool.ready])
          .catch((error) => [String(error)]);
        console.log("RESULT " + JSON.stringify([report[0], pool.stats().transport]));
      </script>`,
    );
    writeFileSync(join(project, "plain-tasks.js"), tasks(base));
    const site = await serveFolder(project, ISOLATED);
    try {
      expect(await resultOf(browser, `${site.url}/plain.html`)).toEqual([3, "shared"]);
    } finally {
      await site.close();
      await cdn.close();
    }
  });
});
