import { rmSync } from "node:fs";
import { basename } from "node:path";
import { defineConfig, type Options } from "tsup";
import { buildBrowser } from "./scripts/browser/build.ts";
import { writePageScript } from "./scripts/dashboard/build.ts";
import { buildModules, type Entries, features } from "./scripts/modules.ts";
import { shrink } from "./scripts/shrink.ts";

await writePageScript();

// Not by tsup's `clean`: the builds run at the same time.
rmSync(new URL("dist", import.meta.url), { recursive: true, force: true });

/** The entry points of the package, by the name of the file in `dist`. Each has a line in `exports` of package.json. */
const entries: Record<string, string> = {
  mod: "src/mod.ts",
  task: "src/mod-task.ts",
  bundler: "src/mod-bundler.ts",
  dashboard: "src/mod-dashboard.ts",
  files: "src/mod-files.ts",
  nats: "src/mod-nats.ts",
  shared: "src/mod-shared.ts",
};

/** Those that only ES modules have, which share one copy: `heddle/core` and its features. */
const core: Entries = { core: "src/mod-core.ts", ...features };

/** Those of browsers, which `scripts/browser/build.ts` builds. */
const browserEntries: Record<string, string> = {
  "browser/mod": "src/mod-browser.ts",
  "browser/worker": "src/mod-browser-worker.ts",
};
/** Types of their own: those of `heddle/core` outside browsers must not name types of pages. */
const browserCoreEntries: Record<string, string> = {
  "browser/core": "src/mod-browser-core.ts",
  "browser/core-worker": "src/mod-browser-core-worker.ts",
};

/** The file that workers start with. Its name is unlikely beside a bundle. */
const WORKER = "heddle-worker";
const CORE_WORKER = "heddle-core-worker";

/** Readers of `using`'s types need no setting of their own. */
const types = { entry: entries, banner: '/// <reference lib="esnext.disposable" />\n' };

const common: Options = {
  target: "node22",
  platform: "node",
  dts: types,
  // The lines are short and the names kept. Maps would be larger than the code, and Deno would show places that do not exist,
  // or the package would contain every source two more times.
  sourcemap: false,
  removeNodeProtocol: false,
};

// A seventh of the time that importing takes Node goes into spaces and comments. Names stay, and so do short lines,
// of which runtimes print the one that threw.
const esbuildOptions: NonNullable<Options["esbuildOptions"]> = (options) => {
  options.minifyWhitespace = true;
  options.lineLimit = 120;
};

/** Keeps webpack from replacing the import of users' modules by an error: esbuild drops comments. */
const forWebpack = (code: string): string =>
  code.replaceAll(/\bimport\((?=[\w$]+\))/g, "import(/*webpackIgnore:true*/");

/** The same, without imports that have no names: they only order files, and would bring the code for structs into every bundle. */
const forBundlers: NonNullable<Options["plugins"]>[number] = {
  name: "for-bundlers",
  renderChunk: (code) => ({
    code: forWebpack(code).replaceAll(/\bimport"\.\.?\/chunk-\w+\.js";/g, ""),
  }),
};

/** The names that a module for CommonJS exports, for those that look for them in the text: it does nothing, and so it would go. */
const NAMES = /\b0&&\(module\.exports=\{[^}]*\}\);\s*$/;

const forRequire: NonNullable<Options["plugins"]>[number] = {
  name: "for-require",
  renderChunk: async (code, { path }) => {
    const name = basename(path);
    const [names = ""] = NAMES.exec(code) ?? [];
    return { code: await shrink(name, code) + names };
  },
};

const { task, shared, bundler, files, ...hosts } = entries;
/** What has no types, since programs do not import it. */
const workers: readonly Entries[] = [
  { [WORKER]: "src/mod-worker.ts" },
  { [CORE_WORKER]: "src/mod-core-worker.ts" },
];
const alone = { task: task!, shared: shared!, bundler: bundler!, files: files! };

await buildModules({ hosts, core, alone, workers }, "dist", forWebpack);
await buildBrowser();

export default defineConfig(({ dts }) => [
  {
    ...common,
    // For bundlers, by the condition `module`: by the smaller its files are, the more of them a bundle can leave out.
    // Files of their own for these, which would be in those of others.
    entry: Object.assign(
      {
        declare: "src/features/task.ts",
        dedupe: "src/api/calls/dedupe.ts",
        signals: "src/api/pool/shutdown-on-signals.ts",
        "is-main": "src/features/is-main.ts",
        "core-is-main": "src/core/is-main.ts",
      },
      entries,
      core,
      ...workers,
    ) as Record<
      string,
      string
    >,
    outDir: "dist/bundle",
    dts: false,
    format: ["esm"],
    esbuildOptions,
    plugins: [forBundlers],
  },
  {
    ...common,
    entry: entries,
    format: ["cjs"],
    esbuildOptions: (options, context) => {
      esbuildOptions(options, context);
      options.define = { ...options.define, "import.meta.url": "heddleUrl" };
      // A bundle for ES modules has no file name.
      options.banner = {
        js: 'const heddleUrl=typeof __filename==="string"' +
          '?require("node:url").pathToFileURL(__filename).href:undefined;',
      };
    },
    plugins: [forRequire],
    // Workers start with the ES module.
    esbuildPlugins: [{
      name: "worker",
      setup: (build) => {
        build.onResolve({ filter: /\/mod-(?:core-)?worker\.ts$/ }, ({ path }) => ({
          path: `./${path.includes("core") ? CORE_WORKER : WORKER}.js`,
          external: true,
        }));
      },
    }],
  },
  // The types of the ES modules, unless the command says `--no-dts`.
  ...(dts === false ? [] : [{ ...entries, ...core, ...browserEntries }, browserCoreEntries].map(
    (entry): Options => ({
      ...common,
      entry,
      format: ["esm"],
      dts: { ...types, entry, only: true },
    }),
  )),
]);
