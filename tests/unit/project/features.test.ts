/**
 * The kernel (a pool, calls, workers, ordinary values) imports no feature when it runs, and features import of each other only what
 * they declare, so that a feature can be deleted with its line in `features/host.ts`, `features/task.ts` and `features/worker.ts`
 * (`scripts/without.ts` does so).
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, posix, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { hostFeatures } from "../../../src/features/host.ts";
import { workerFeatures } from "../../../src/features/worker.ts";

const root = fileURLToPath(new URL("../../../src", import.meta.url));

/** Entry points and what builds on them. */
const ABOVE = /^(mod[-.]|core\/|features\/[\w-]+\.ts$|nats\/|dashboard\/|shared\/)/;

/** Imports of types of features by files of the kernel: most are in the types of the public surface. The number only falls. */
const TYPES_LIMIT = 37;

interface Source {
  readonly path: string;
  /** Of types alone, and of what runs. */
  readonly imports: readonly { readonly to: string; readonly isOfTypes: boolean }[];
}

/** True for an import whose names are types only, which is none when the program runs. */
function isOfTypes(clause: string): boolean {
  const names = /^(?:import|export)\s+\{([^}]*)\}/.exec(clause)?.[1];
  if (names === undefined) return /^(?:import|export)\s+type\b/.test(clause);
  return names.split(",").map((name) => name.trim()).filter(Boolean)
    .every((name) => name.startsWith("type "));
}

const sources: readonly Source[] = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => path.split(sep).join("/"))
  .map((path) => {
    const text = readFileSync(join(root, path), "utf8");
    const clauses = [...text.matchAll(/^((?:import|export)\b[^;"]*?)from "(\.[^"]+)"/gms)];
    const imports = clauses.map(([, clause, specifier]) => ({
      to: posix.join(posix.dirname(path), specifier!),
      isOfTypes: isOfTypes(clause!),
    }));
    return { path, imports };
  });

/** The folder of a feature that the file belongs to, such as "calls/streams", and the path within it. */
function placeOf(path: string): readonly [folder: string, file: string] | undefined {
  const [, folder, file] = /^features\/([\w-]+\/[\w-]+)\/(.+)$/.exec(path) ?? [];
  return folder === undefined ? undefined : [folder, file!];
}

/** The side of a file in the folder of a feature; undefined: both load it. */
function sideOf(path: string): "host" | "worker" | "task" | undefined {
  return /^(host|worker|task)(?:\.ts$|\/)/.exec(placeOf(path)?.[1] ?? "")?.[1] as "host";
}

const all = [...hostFeatures, ...workerFeatures];
const nameOf = (folder: string): string =>
  folder === "values/rare" ? "values" : folder.split("/")[1]!;
const needsOf = (name: string): readonly string[] =>
  all.filter((feature) => feature.name === name).flatMap(({ needs = [] }) => needs);

const ofKernel = sources.filter(({ path }) => placeOf(path) === undefined && !ABOVE.test(path));

test("each folder is a feature, and each feature has a folder", () => {
  const folders = sources.flatMap(({ path }) => placeOf(path)?.[0] ?? []);
  expect([...new Set(folders.map(nameOf))].toSorted())
    .toEqual([...new Set(all.map(({ name }) => name))].toSorted());
});

test("the kernel imports no feature when it runs", () => {
  const found = ofKernel.flatMap(({ path, imports }) =>
    imports.filter(({ to, isOfTypes }) => !isOfTypes && to.startsWith("features/"))
      .map(({ to }) => `${path} → ${to}`)
  );
  expect(found).toEqual([]);
});

test("the kernel names types of features no more often than before", () => {
  const found = ofKernel.flatMap(({ path, imports }) =>
    imports.filter(({ to }) => to.startsWith("features/")).map(({ to }) => `${path} → ${to}`)
  );
  expect(found.length, found.join("\n")).toBeLessThanOrEqual(TYPES_LIMIT);
});

test("a feature imports of others what it says that it needs", () => {
  const undeclared = sources.flatMap(({ path, imports }) => {
    const [folder] = placeOf(path) ?? [];
    if (folder === undefined) return [];
    const needs = needsOf(nameOf(folder));
    return imports.filter(({ to, isOfTypes }) => {
      const [other] = placeOf(to) ?? [];
      return !isOfTypes && other !== undefined && other !== folder &&
        !needs.includes(nameOf(other));
    }).map(({ to }) => `${path} → ${to}`);
  });
  expect(undeclared).toEqual([]);
});

test("the files of a feature keep to their side", () => {
  const wrong = sources.flatMap(({ path, imports }) => {
    // The first is for pages, whose builds are files of their own; the others are entry points of hosts.
    if (placeOf(path) === undefined || /mirror\/install\.ts$|\/use\.ts$/.test(path)) return [];
    const side = sideOf(path);
    // A feature without a worker's side is the host's as a whole.
    const [folder] = placeOf(path)!;
    const isOfHost = side === "host" ||
      !sources.some(({ path }) => path === `features/${folder}/worker.ts`);
    return imports.filter(({ to, isOfTypes }) => {
      if (isOfTypes) return false;
      const ofWorker = to.startsWith("worker/") || sideOf(to) === "worker";
      const ofHost = /^(host|api)\//.test(to) || sideOf(to) === "host";
      if (isOfHost) return ofWorker;
      return side === "worker" ? ofHost : side === "task" ? ofWorker : ofWorker || ofHost;
    }).map(({ to }) => `${path} → ${to}`);
  });
  expect(wrong).toEqual([]);
});
