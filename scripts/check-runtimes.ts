/** Fails unless the installed runtimes are exactly those of package.json. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = new URL("../", import.meta.url);
const { devDependencies } = JSON.parse(
  readFileSync(new URL("package.json", root), "utf8"),
) as { devDependencies: Record<string, string> };

const binaries: Readonly<Record<string, string>> = {
  node22: "node_modules/node22/bin/node",
  node24: "node_modules/node24/bin/node",
  node: "node_modules/node/bin/node",
  deno: "node_modules/.bin/deno",
  bun: "node_modules/.bin/bun",
};

for (const [name, path] of Object.entries(binaries)) {
  const wanted = devDependencies[name]!.replace(/^npm:node@/, "");
  const output = execFileSync(fileURLToPath(new URL(path, root)), ["--version"], {
    encoding: "utf8",
  });
  const found = /\d+\.\d+\.\d+/.exec(output)?.[0];
  if (found !== wanted) throw new Error(`${name} is ${found}, package.json wants ${wanted}`);
  console.log(`${name} ${found}`);
}
