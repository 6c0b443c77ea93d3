/**
 * Builds the ES modules that runtimes load. A host loads one file and a worker one, since each file costs Node one to three
 * milliseconds at the start of a program and of every worker, beside its text. Neither shares a file with the other: what both
 * need is in both. `heddle/task` and `heddle/shared`, which hosts and workers load, have all they need as well, and agree with
 * the copy beside them through `globalThis` (`realm/`), as copies of other formats do. Bundlers get more and smaller files
 * (tsup.config.ts).
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type CodeSplittingOptions,
  type OutputChunk,
  type OutputOptions,
  type Plugin,
  rolldown,
} from "rolldown";
import { kernelClasses, plainMembers } from "./plain-members.ts";
import { shrink } from "./shrink.ts";

const root: string = fileURLToPath(new URL("../", import.meta.url));

/** Sources by the path of their output without `.js`. */
export type Entries = Readonly<Record<string, string>>;

/** The entry points of features, as deno.json lists them. */
export const features: Entries = Object.fromEntries(
  Object.entries(
    (JSON.parse(readFileSync(join(root, "deno.json"), "utf8")) as { exports: Entries }).exports,
  ).filter(([name]) => name.startsWith("./features/"))
    .map(([name, path]) => [name.slice(2), path.slice(2)]),
);

/** An entry in whose file the kernel is. */
interface Main {
  readonly name: string;
  /** The chunk of all that it loads, as rolldown makes it. */
  readonly chunk: string;
  /** The names of chunks of features, of whose which the rest has. */
  readonly feature?: (name: string) => string;
}
const MAIN: Main = { name: "mod", chunk: "host" };
const CORE: Main = {
  name: "core",
  chunk: "core-host",
  feature: (name) => `features/${name}`,
};
const WORKER: Main = { name: "heddle-worker", chunk: "heddle-worker" };
/** Its features are loaded by `import()`. */
const CORE_WORKER: Main = {
  name: "heddle-core-worker",
  chunk: "heddle-core-worker",
  feature: (name) => `heddle-core-worker/${name}`,
};
/** The function of MAIN and CORE that carries what other entries import of the host. */
const CARRIER = "createPool";

/** The folder of a feature. */
const FEATURE = /\/src\/(features\/[\w-]+\/[\w-]+)\//;
/** The names of features, by their folders. */
const featureAt: ReadonlyMap<string, string> = new Map(
  Object.entries(features).map((
    [name, path],
  ) => [FEATURE.exec(`/${path}`)![1]!, name.slice("features/".length)]),
);

/**
 * Puts all that `main` loads at once into its chunk, and each feature that the other entries load at once into one. What these
 * share beside features is small.
 */
function grouping({ name, chunk, feature }: Main, input: Entries): CodeSplittingOptions {
  const entries = new Set(Object.values(input));
  let ofMain: Set<string> | undefined;
  let ofFeatures: Set<string> | undefined;
  return {
    includeDependenciesRecursively: false,
    groups: [{
      name: (id, context) => {
        const moduleOf = (other: string): Module => context.getModuleInfo(other);
        ofMain ??= loadedBy([input[name]!], moduleOf);
        if (ofMain.has(id)) return entries.has(id) && entries.size > 1 ? null : chunk;
        if (feature === undefined) return null;
        ofFeatures ??= loadedBy(
          entries.size > 1 ? entries : [...ofMain].flatMap(importedLater(moduleOf)),
          moduleOf,
        );
        if (!ofFeatures.has(id)) return null;
        const own = featureAt.get(FEATURE.exec(id)?.[1] ?? "");
        return own === undefined ? chunk : feature(own);
      },
      debugName: chunk,
    }],
  };
}

/** What a module loads by `import()`, of features. */
const importedLater = (moduleOf: (id: string) => Module) => (id: string): readonly string[] =>
  (moduleOf(id)?.dynamicallyImportedIds ?? []).filter((id) => id.endsWith("/worker.ts"));

type Module =
  | { readonly importedIds: readonly string[]; readonly dynamicallyImportedIds: readonly string[] }
  | null;

/** The modules that `entries` import at once, directly or not, with themselves. */
function loadedBy(entries: Iterable<string>, moduleOf: (id: string) => Module): Set<string> {
  const loaded = new Set<string>();
  const visit = (id: string): void => {
    if (loaded.has(id)) return;
    loaded.add(id);
    for (const other of moduleOf(id)?.importedIds ?? []) visit(other);
  };
  for (const entry of entries) visit(entry);
  return loaded;
}

/** A host where no thread can start loads the worker's file as it is. */
const toWorker: Plugin = {
  name: "to-worker",
  resolveId: (id) =>
    /^\..*\/mod-(?:core-)?worker\.ts$/.test(id)
      ? {
        id: id.includes("core") ? "./heddle-core-worker.js" : "./heddle-worker.js",
        external: true,
      }
      : null,
};

/** The texts of `entries` and their chunks, by file name. */
async function bundle(
  entries: Entries,
  settings: (input: Entries) => OutputOptions,
): Promise<Map<string, string>> {
  const input = Object.fromEntries(
    Object.entries(entries).map(([name, path]) => [name, join(root, path)]),
  );
  const built = await rolldown({
    input,
    platform: "node",
    external: [/^node:/, /^@nats-io\//],
    plugins: [toWorker],
    preserveEntrySignatures: "allow-extension", // that chunks may import what an entry holds
    checks: { preferBuiltinFeature: false },
  });
  const { output } = await built.generate({ format: "esm", ...settings(input) });
  await built.close();
  return new Map(
    (output as OutputChunk[]).map(({ fileName, code, modules }) => [
      fileName,
      plainMembers(code, kernelClasses(modules)),
    ]),
  );
}

/** `a as b, c` by the names after `as`. */
function namesIn(list: string): Map<string, string> {
  return new Map(
    list.split(",").map((part) => part.trim().split(" as ")).filter(([name]) => name !== "")
      .map(([name = "", other = name]) => [other, name]),
  );
}

const EXPORTS = /\bexport \{([^}]*)\};\s*$/;
const REEXPORTS = /^\s*export \{([^}]*)\} from "\.\/([\w.-]+)\.js";\s*$/;

/**
 * Makes one file of a main entry, which only exports what is in the chunk of its host, and of that. A module has no exports for friends alone: what
 * other entries import of it is a property of `createPool`, from which the file of that chunk, which they load, takes it.
 */
function mergeHost({ name, chunk }: Main, files: Map<string, string>): void {
  const host = files.get(`${chunk}.js`) ?? "";
  const [, all] = EXPORTS.exec(host) ?? [];
  const [, exported, from] = REEXPORTS.exec(files.get(`${name}.js`) ?? "") ?? [];
  if (all === undefined || exported === undefined || from !== chunk) {
    throw new Error(`${name}.js does more than to export what is in ${chunk}.js.`);
  }
  const internal = namesIn(all);
  const local = new Map(
    [...namesIn(exported)].map(([name, key]) => [name, internal.get(key)!]),
  );
  const given = [...local].map(([name, own]) => `${own} as ${name}`);
  const carried = [...internal].map(([key, own]) => `${key}: ${own}`);
  const property = `Symbol.for("heddle.host")`;
  files.set(
    `${name}.js`,
    `${host.replace(EXPORTS, "")}
Object.defineProperty(${local.get(CARRIER)!}, ${property}, { value: { ${carried.join(", ")} } });
export { ${given.join(", ")} };`,
  );
  // The keys are short, and so may be reserved words.
  const taken = [...internal.keys()].map((key) => `${key}: ${key}$`);
  const passed = [...internal.keys()].map((key) => `${key}$ as ${key}`);
  files.set(
    `${chunk}.js`,
    `import { ${CARRIER} } from "./${name}.js";
const { ${taken.join(", ")} } = ${CARRIER}[${property}];
export { ${passed.join(", ")} };`,
  );
}

/** What is built together shares its modules. */
interface Groups {
  /** With MAIN: the entries that only hosts load. */
  readonly hosts: Entries;
  /** With CORE: its features. */
  readonly core: Entries;
  /** Each is a group of its own, and one file. */
  readonly alone: Entries;
  /** Groups of what only workers load. */
  readonly workers: readonly Entries[];
}

async function bundleHosts(main: Main, entries: Entries): Promise<Map<string, string>> {
  const files = await bundle(entries, (input) => ({
    // The files that heddle looks for lie beside that of the host.
    chunkFileNames: ({ name }) =>
      main === MAIN || name === main.chunk || name.startsWith("features/")
        ? "[name].js"
        : `${main.name}/[name].js`,
    codeSplitting: grouping(main, input),
  }));
  mergeHost(main, files);
  return files;
}

/** The helper of rolldown for modules that `import()` loads, in each file that imports it. */
function withRuntime(files: Map<string, string>): Map<string, string> {
  const [, helper] = [...files].find(([name]) => name.endsWith("/rolldown-runtime.js")) ?? [];
  if (helper === undefined) return files;
  const body = helper.replace(EXPORTS, "");
  return new Map(
    [...files].filter(([, code]) => code !== helper).map(([name, code]) => [
      name,
      code.replace(/^import \{ t as __exportAll \} from "\.\/rolldown-runtime\.js";$/m, () => body),
    ]),
  );
}

/** Builds `groups` into `folder`. `finish` makes a file's final text. */
export async function buildModules(
  { hosts, core, alone, workers }: Groups,
  folder: string,
  finish: (code: string) => string,
): Promise<void> {
  const files = await bundleHosts(MAIN, hosts);
  const others = [
    bundleHosts(CORE, core),
    ...Object.entries(alone).map(([name, path]) =>
      bundle({ [name]: path }, () => ({ codeSplitting: false }))
    ),
    ...workers.map((entries) => {
      const [first = ""] = Object.keys(entries);
      const main = [WORKER, CORE_WORKER].find(({ name }) => name === first);
      return bundle(entries, (input) => ({
        chunkFileNames: ({ name }) =>
          name.startsWith(`${first}/`) ? "[name].js" : `${first.split("/")[0]}/[name].js`,
        ...(main !== undefined && { codeSplitting: grouping(main, input) }),
      }));
    }),
  ];
  for (const group of others) {
    for (const [name, code] of withRuntime(await group)) {
      if (files.has(name)) throw new Error(`The build makes ${name} twice.`);
      files.set(name, code);
    }
  }
  for (const [name, code] of files) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, finish(await shrink(name, code)));
  }
}
