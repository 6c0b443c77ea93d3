/** `node build.mjs OUT`: the linter with heddle in one file, `OUT/lint.mjs`, and `OUT/bin.cjs`, which starts it. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const [outdir = here("./dist")] = process.argv.slice(2);

await build({
  entryPoints: { lint: here("./main.ts") },
  bundle: true,
  minify: true,
  platform: "node",
  format: "esm",
  outdir,
  outExtension: { ".js": ".mjs" },
});
copyFileSync(here("./bin.cjs"), join(outdir, "bin.cjs"));
