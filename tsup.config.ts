import { defineConfig, type Options } from "tsup";

/** The entry points of the package, by the name of the file in `dist`. Each has a line in `exports` of package.json. */
const entries: Record<string, string> = { mod: "src/mod.ts", task: "src/mod-task.ts" };

/** Entries in the same relative places as the sources, so that one line finds the worker in both. */
const WORKER = "worker/heddle-worker";

const common: Options = {
  target: "node22",
  platform: "node",
  // Readers of `using`'s types need no setting of their own.
  dts: { entry: entries, banner: '/// <reference lib="esnext.disposable" />\n' },
  sourcemap: true,
  removeNodeProtocol: false,
};

// A seventh of the time that importing takes Node goes into spaces and comments. Names stay, and so do short lines,
// of which runtimes print the one that threw. Source maps name the sources, which the repository has.
const esbuildOptions: NonNullable<Options["esbuildOptions"]> = (options) => {
  options.minifyWhitespace = true;
  options.lineLimit = 120;
  options.sourcesContent = false;
};

/** Without this comment, which esbuild drops, webpack replaces the import of users' modules by an error. */
const keepImports: NonNullable<Options["plugins"]>[number] = {
  name: "keep-imports",
  renderChunk: (code) => ({
    code: code.replaceAll(/\bimport\((?=\w+\))/g, "import(/*webpackIgnore:true*/"),
  }),
};

export default defineConfig([
  {
    ...common,
    entry: { ...entries, [WORKER]: "src/worker/entry.ts" },
    format: ["esm"],
    esbuildOptions,
    plugins: [keepImports],
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
    // Workers start with the ES module.
    esbuildPlugins: [{
      name: "worker",
      setup: (build) => {
        build.onResolve({ filter: /\/worker\/entry\.ts$/ }, () => ({
          path: `./${WORKER}.js`,
          external: true,
        }));
      },
    }],
  },
]);
