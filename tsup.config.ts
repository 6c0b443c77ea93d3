import { rmSync } from "node:fs";
import { defineConfig, type Options } from "tsup";
import { writePageScript } from "./scripts/dashboard/build.ts";

await writePageScript();

// Not by tsup's `clean`: the two builds run at the same time.
rmSync(new URL("dist", import.meta.url), { recursive: true, force: true });

/** The entry points of the package, by the name of the file in `dist`. Each has a line in `exports` of package.json. */
const entries: Record<string, string> = {
  mod: "src/mod.ts",
  task: "src/mod-task.ts",
  dashboard: "src/mod-dashboard.ts",
  knitting: "src/mod-knitting.ts",
  "knitting/utils": "src/mod-knitting-utils.ts",
  nats: "src/mod-nats.ts",
};

/** Entries in the same relative places as the sources, so that one line finds them in both. */
const WORKER = "worker/heddle-worker";
const SETUP = "knitting/bootstrap";

const common: Options = {
  target: "node22",
  platform: "node",
  // Readers of `using`'s types need no setting of their own.
  dts: { entry: entries, banner: '/// <reference lib="esnext.disposable" />\n' },
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

/**
 * Keeps webpack from replacing the import of users' modules by an error: esbuild drops comments. Drops imports without
 * names, which only order chunks, and would bring the code for structs into every bundle.
 */
const forBundlers: NonNullable<Options["plugins"]>[number] = {
  name: "for-bundlers",
  renderChunk: (code) => ({
    code: code.replaceAll(/\bimport\((?=\w+\))/g, "import(/*webpackIgnore:true*/")
      .replaceAll(/\bimport"\.\.?\/chunk-\w+\.js";/g, ""),
  }),
};

export default defineConfig([
  {
    ...common,
    entry: {
      ...entries,
      [WORKER]: "src/worker/entry.ts",
      [SETUP]: "src/compat/knitting/bootstrap.ts",
    },
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
