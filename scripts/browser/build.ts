/**
 * Builds `dist/browser`: what browsers load, with or without a bundler. The adapter of browsers takes the place of those of other
 * runtimes, and `runtimes/browser/platform.ts` that of the global `SharedArrayBuffer`. Minified, since pages load it as it is.
 */
import { build, type Metafile, type Plugin } from "esbuild";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { features } from "../modules.ts";

const root: string = fileURLToPath(new URL("../../", import.meta.url));

/** Modules of other runtimes, and what stands for them. */
const REPLACED: Readonly<Record<string, string>> = {
  "runtimes/current.ts": "runtimes/browser/current.ts",
  "runtimes/host.ts": "runtimes/browser/host.ts",
  "runtimes/worker.ts": "runtimes/browser/worker.ts",
  "runtimes/node-api/threads/host-port.ts": "runtimes/browser/modules.ts",
  "runtimes/packages/module-finder.ts": "runtimes/browser/modules.ts",
  "runtimes/bun/bundles.ts": "runtimes/browser/modules.ts",
  "src/worker-entry.ts": "runtimes/browser/modules.ts",
  "worker-entry.ts": "runtimes/browser/modules.ts",
};

const replace: Plugin = {
  name: "replace",
  setup: (context) => {
    context.onResolve({ filter: /^\./ }, ({ path, importer }) => {
      const url = new URL(path, `file://${importer}`);
      const name = fileURLToPath(url).slice(`${root}src/`.length);
      const other = REPLACED[name];
      return other === undefined ? undefined : { path: `${root}src/${other}` };
    });
  },
};

/** The entries, by their files in `dist/browser`. `worker` is also the script that heddle itself starts. */
const entries: Readonly<Record<string, string>> = {
  mod: "src/mod-browser.ts",
  task: "src/mod-task.ts",
  worker: "src/mod-browser-worker.ts",
};
/** Those of `heddle/core`, which share no file with the others: pages without a bundler load more of them the more entries share. */
const coreEntries: Readonly<Record<string, string>> = {
  core: "src/mod-browser-core.ts",
  "core-worker": "src/mod-browser-core-worker.ts",
  ...features,
};

export async function buildBrowser(outdir = `${root}dist/browser`): Promise<Metafile> {
  await buildEntries(coreEntries, outdir);
  return await buildEntries(entries, outdir);
}

async function buildEntries(
  entries: Readonly<Record<string, string>>,
  outdir: string,
): Promise<Metafile> {
  const { metafile, outputFiles } = await build({
    entryPoints: Object.fromEntries(
      Object.entries(entries).map(([name, path]) => [name, `${root}${path}`]),
    ),
    outdir,
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    target: ["chrome111", "firefox114", "safari16.4"],
    minify: true,
    metafile: true,
    write: false,
    chunkNames: "[name]-[hash]",
    inject: [`${root}src/runtimes/browser/platform.ts`],
    plugins: [replace],
  });
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, forBundlers(text));
  }
  return metafile;
}

/** Keeps bundlers from replacing the imports of users' modules, or warning of them: esbuild drops comments. */
function forBundlers(code: string): string {
  return code.replaceAll(
    /\bimport\((?=[\w$]+\)|`)/g,
    "import(/*webpackIgnore:true*//*@vite-ignore*/",
  );
}

if (import.meta.main) await buildBrowser();
