/**
 * `node scripts/packages.ts [NAME…]`: builds the packages in `packages`, which stand in for other libraries, from the
 * sources of their exports and, if there is one, `src/worker.ts` (what their workers run). They are ES modules alone: every runtime that heddle
 * supports loads those with `require` too. Needs the build of heddle.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../", import.meta.url));
const wanted = process.argv.slice(2);

for (const name of readdirSync(join(root, "packages"))) {
  const folder = join(root, "packages", name);
  const isWanted = wanted.length === 0 || wanted.includes(name);
  if (!isWanted || !existsSync(join(folder, "src"))) continue;
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, { readonly default?: string }>>;
  };
  const files = Object.values(exports).flatMap(({ default: file }) => file ?? []);
  const entries = [...files, "./dist/worker.js"]
    .map((file) => join(folder, file.replace("./dist/", "src/").replace(/js$/, "ts")))
    .filter(existsSync);
  rmSync(join(folder, "dist"), { recursive: true, force: true });
  // One file each: every file more costs a start a millisecond or more.
  await build({
    entryPoints: entries,
    outdir: join(folder, "dist"),
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node22",
    minifyWhitespace: true,
    lineLimit: 120,
    logLevel: "warning",
  });
  const tsc = join(root, "node_modules/typescript7/bin/tsc");
  const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
  if (status !== 0) {
    console.error(stdout);
    process.exit(1);
  }
}
