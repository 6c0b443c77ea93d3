/** node build.mjs OUT [--external] [--plugin] */
import { build } from "esbuild";
import { esbuildPlugin } from "heddle/bundler";

const [outdir, ...flags] = process.argv.slice(2);

await build({
  ...(flags.includes("--plugin")
    ? { entryPoints: { main: "../program/with-plugin.mjs" }, plugins: [esbuildPlugin()] }
    : { entryPoints: ["../program/main.mjs", "../program/tasks.mjs"] }),
  bundle: true,
  minify: true,
  platform: "node",
  format: "esm",
  outdir,
  outExtension: { ".js": ".mjs" },
  external: flags.includes("--external") ? ["heddle"] : [],
});
