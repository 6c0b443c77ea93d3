/** The folder `.package-test`: conformance tests that use the packed and installed package. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));

/** Let wakes be lost, and hold what a stopped thread holds: with the parts of heddle, so they need the sources. */
export const OF_SOURCES: readonly string[] = [
  "conformance/lost-wakes.test.ts",
  "conformance/suspension.test.ts",
];

/** Conformance tests against the packed and installed package instead of the sources. */
export function preparePackageTest(): string {
  const target = join(root, ".package-test");
  rmSync(target, { recursive: true, force: true });
  const installed = join(target, "node_modules/heddle");
  mkdirSync(installed, { recursive: true });
  const packed = JSON.parse(
    execFileSync("npm", ["pack", "--json", "--pack-destination", target], {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }),
  ) as Record<string, { filename: string }> | { filename: string }[];
  const [{ filename }] = Object.values(packed) as [{ filename: string }];
  execFileSync("tar", ["-xzf", join(target, filename), "-C", installed, "--strip-components=1"]);
  for (const folder of ["conformance", "fixtures", "support"]) {
    cpSync(join(root, "tests", folder), join(target, "tests", folder), { recursive: true });
  }
  cpSync(join(root, "examples"), join(target, "examples"), { recursive: true });
  for (const path of readdirSync(join(target, "tests"), { recursive: true, encoding: "utf8" })) {
    if (!/\.m?[jt]s$/.test(path)) continue;
    const file = join(target, "tests", path);
    const text = readFileSync(file, "utf8");
    writeFileSync(
      file,
      // What a test puts into programs outside this folder is a URL.
      text.replaceAll(
        /new URL\("((?:\.\.\/)+)src\/(?:mod-)?(mod|[\w-]+)\.ts", import/g,
        'new URL("$1node_modules/heddle/dist/$2.js", import',
      )
        .replaceAll(/"(?:\.\.\/)+src\/mod\.ts"/g, '"heddle"')
        .replaceAll(/"(?:\.\.\/)+src\/mod-core\.ts"/g, '"heddle/core"')
        .replaceAll(
          /"(?:\.\.\/)+src\/features\/values\/rare\/use\.ts"/g,
          '"heddle/features/values"',
        )
        .replaceAll(
          /"(?:\.\.\/)+src\/features\/\w+\/(\w+)\/use\.ts"/g,
          '"heddle/features/$1"',
        )
        .replaceAll(/"(?:\.\.\/)+src\/mod-task\.ts"/g, '"heddle/task"')
        .replaceAll(/"(?:\.\.\/)+src\/mod-shared\.ts"/g, '"heddle/shared"')
        .replaceAll(/"(?:\.\.\/)+src\/mod-dashboard\.ts"/g, '"heddle/dashboard"')
        .replaceAll(/"(?:\.\.\/)+src\/mod-bundler\.ts"/g, '"heddle/bundler"')
        .replaceAll(/"(?:\.\.\/)+src\/mod-files\.ts"/g, '"heddle/files"'),
    );
  }
  cpSync(join(root, "vitest.config.ts"), join(target, "vitest.config.ts"));
  // These reach into the sources; everything else uses what the package exports.
  for (
    const file of ["support/codec.ts", "support/endpoints.ts", "support/rings.ts", ...OF_SOURCES]
  ) {
    rmSync(join(target, "tests", file), { force: true });
  }
  writeFileSync(join(target, "package.json"), '{ "type": "module", "private": true }\n');
  return target;
}
