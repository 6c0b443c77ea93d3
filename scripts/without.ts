/**
 * Copies of heddle without some features, in which the kernel's suite has to pass: what is left must not need what was deleted.
 *
 * `node scripts/without.ts map scopes` runs it in one without these and what needs them, `node scripts/without.ts` in one without
 * any feature, and prints where the copy is.
 */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hostFeatures } from "../src/features/host.ts";
import { workerFeatures } from "../src/features/worker.ts";

const root: string = fileURLToPath(new URL("../", import.meta.url));

const all = [...hostFeatures, ...workerFeatures];

export const featureNames: readonly string[] = [...new Set(all.map(({ name }) => name))];

/** These features, and all that do not work without them. */
export function withDependents(names: readonly string[]): readonly string[] {
  const gone = new Set(names);
  for (let size = -1; size !== gone.size;) {
    size = gone.size;
    for (const { name, needs = [] } of all) {
      if (needs.some((need) => gone.has(need))) gone.add(name);
    }
  }
  return [...gone];
}

const features: string = join(root, "src/features");

/** The folder of each feature, from `src/features`. */
const folders: ReadonlyMap<string, string> = new Map(
  readdirSync(features, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    .flatMap(({ name: group }) =>
      readdirSync(join(features, group)).map((name) => [
        name === "rare" ? "values" : name,
        `${group}/${name}`,
      ])
    ),
);

/** The text without the statements that import or export what is in these folders, and without the features' names in lists. */
function strip(text: string, names: readonly string[]): string {
  let result = text;
  for (const name of names) {
    const from = new RegExp(
      `^(?:import|export)\\b[^;"]*?from "\\./(?:features/)?${folders.get(name)}/[^"]+";\\n`,
      "gm",
    );
    result = result.replace(from, "").replace(new RegExp(`^  ${name},\\n`, "gm"), "");
  }
  return result;
}

/** Copies sources and the kernel's suite without these features and what needs them. Returns the folder. */
export function copyWithout(names: readonly string[]): string {
  const gone = withDependents(names);
  const folder = join(
    root,
    ".without-test",
    names.length === featureNames.length ? "kernel" : names.join("-"),
  );
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "tests"), { recursive: true });
  cpSync(join(root, "src"), join(folder, "src"), { recursive: true });
  cpSync(join(root, "tests/kernel"), join(folder, "tests/kernel"), { recursive: true });
  cpSync(join(root, "vitest.config.ts"), join(folder, "vitest.config.ts"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  for (const name of gone) {
    rmSync(join(folder, "src/features", folders.get(name)!), { recursive: true });
  }
  const lists = ["features/host.ts", "features/worker.ts", "features/task.ts"];
  const entries = readdirSync(join(folder, "src")).filter((file) => /^mod.*\.ts$/.test(file));
  for (const file of [...lists, ...entries]) {
    const path = join(folder, "src", file);
    writeFileSync(path, strip(readFileSync(path, "utf8"), gone));
  }
  return folder;
}

if (import.meta.main) {
  const given = process.argv.slice(2);
  const unknown = given.find((name) => !featureNames.includes(name));
  if (unknown !== undefined) {
    throw new Error(`No feature is named ${unknown}: ${featureNames.join()}`);
  }
  const folder = copyWithout(given.length === 0 ? featureNames : given);
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const { status } = spawnSync(process.execPath, [vitest, "run"], {
    cwd: folder,
    stdio: "inherit",
  });
  if (existsSync(folder)) console.log(folder);
  process.exitCode = status ?? 1;
}
