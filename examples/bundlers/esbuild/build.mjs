/** node build.mjs OUT [--external] */
import { build } from "esbuild";

const [outdir, isExternal] = process.argv.slice(2);

await build({
  entryPoints: ["../program/main.mjs", "../program/tasks.mjs"],
  bundle: true,
  minify: true,
  platform: "node",
  format: "esm",
  outdir,
  outExtension: { ".js": ".mjs" },
  external: isExternal ? ["heddle"] : [],
});
