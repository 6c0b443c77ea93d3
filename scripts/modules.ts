/**
 * Builds the ES modules that runtimes load. A host loads one file and a worker one, since each file costs Node one to three
 * milliseconds at the start of a program and of every worker, beside its text. Neither shares a file with the other: what both
 * need is in both. `heddle/task` and `heddle/shared`, which hosts and workers load, have all they need as well, and agree with
 * the copy beside them through `globalThis` (`realm/`), as copies of other formats do. Bundlers get more and smaller files
 * (tsup.config.ts).
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type CodeSplittingOptions,
  type OutputChunk,
  type OutputOptions,
  type Plugin,
  rolldown,
} from "rolldown";
import { deferring, finishParts, partOf } from "./deferred.ts";
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
  /** The folder of its parts that are read when they are needed. */
  readonly deferred?: string;
  /** Which of the parts are read so. Default: all. */
  readonly isDeferred?: (path: string) => boolean;
}
const MAIN: Main = {
  name: "mod",
  chunk: "host",
  deferred: "deferred",
};
const CORE: Main = {
  name: "core",
  chunk: "core-host",
  feature: (name) => `features/${name}`,
  deferred: "deferred-core",
  // Those of features are in their own files, which a program imports if it uses them.
  isDeferred: (path) => /\/(?:runtimes|workers\/rights)\//.test(path),
};
const WORKER: Main = {
  name: "heddle-worker",
  chunk: "heddle-worker",
  deferred: "deferred-worker",
};
/** Its features are loaded by `import()`. */
const CORE_WORKER: Main = {
  name: "heddle-core-worker",
  chunk: "heddle-core-worker",
  feature: (name) => `heddle-core-worker/${name}`,
};
/** The function of MAIN and CORE that carries what other entries import of the host. */
const CARRIER = "createPool";
const PROPERTY = `Symbol.for("heddle.host")`;

/** The parts of a side that are read when they are needed, as entries whose files are in `folder`. */
function partsOf(side: "host" | "worker", { deferred, isDeferred = () => true }: Main): Entries {
  const paths = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .map((path) => `src/${path.replaceAll("\\", "/")}`)
    .filter((path) =>
      path.endsWith("/deferred.ts") &&
      path.endsWith("/worker/deferred.ts") === (side === "worker") && isDeferred(path)
    );
  const names = paths.map(partOf);
  if (new Set(names).size < names.length) throw new Error(`Two parts have one name: ${names}.`);
  return Object.fromEntries(paths.map((path, index) => [`${deferred}/${names[index]}`, path]));
}

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
function grouping(main: Main, input: Entries): CodeSplittingOptions {
  const { name, chunk, feature } = main;
  const parts = Object.values(input).filter((id) => partOf(id) !== undefined);
  const entries = new Set(Object.values(input).filter((id) => !parts.includes(id)));
  let ofMain: Set<string> | undefined;
  let placeOf: ((id: string) => string | null) | undefined;
  return {
    includeDependenciesRecursively: false,
    groups: [{
      name: (id, context) => {
        const moduleOf = (other: string): Module => context.getModuleInfo(other);
        ofMain ??= loadedBy([input[name]!], moduleOf);
        if (ofMain.has(id)) return entries.has(id) && entries.size > 1 ? null : chunk;
        if (placeOf === undefined) {
          const later = entries.size > 1 ? entries : [...ofMain].flatMap(importedLater(moduleOf));
          const places = [
            placesOfParts(main, parts, moduleOf),
            ...(feature === undefined ? [] : [placesOfFeatures(main, later, moduleOf)]),
          ];
          placeOf = (other) => places.map((place) => place(other)).find((place) => place) ?? null;
        }
        return placeOf(id);
      },
      debugName: chunk,
    }],
  };
}

const featureOf = (id: string): string | undefined => featureAt.get(FEATURE.exec(id)?.[1] ?? "");

/** The chunks of what only features need that `entries` load. */
function placesOfFeatures(
  { chunk, feature }: Main,
  entries: Iterable<string>,
  moduleOf: (id: string) => Module,
): (id: string) => string | null {
  const loaded = loadedBy(entries, moduleOf);
  return (id) => {
    if (!loaded.has(id)) return null;
    const own = featureOf(id);
    return own === undefined ? chunk : feature!(own);
  };
}

/** The chunks of what only deferred parts need: with the only part that does, or with that of the feature to which it belongs. */
function placesOfParts(
  { chunk, deferred }: Main,
  parts: readonly string[],
  moduleOf: (id: string) => Module,
): (id: string) => string | null {
  const loaded = parts.map((part) => loadedBy([part], moduleOf));
  const folderOf = (id: string): string | undefined => FEATURE.exec(id)?.[1];
  return (id) => {
    const users = parts.filter((_part, index) => loaded[index]!.has(id));
    const [part] = users.length > 1
      ? users.filter((each) => folderOf(id) !== undefined && folderOf(each) === folderOf(id))
      : users;
    return users.length === 0 ? null : part === undefined ? chunk : `${deferred}/${partOf(part)}`;
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
  { deferred, isDeferred }: Pick<Main, "deferred" | "isDeferred"> = {},
): Promise<Map<string, string>> {
  const input = Object.fromEntries(
    Object.entries(entries).map(([name, path]) => [name, join(root, path)]),
  );
  const built = await rolldown({
    input,
    platform: "node",
    external: [/^node:/, /^@nats-io\//],
    plugins: [toWorker, deferred !== undefined && deferring(deferred, isDeferred)],
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
  if (/^const loadPart = /m.test(host) && !internal.has("loadPart")) carried.push("loadPart");
  files.set(
    `${name}.js`,
    `${host.replace(EXPORTS, "")}
Object.defineProperty(${local.get(CARRIER)!}, ${PROPERTY}, { value: { ${carried.join(", ")} } });
export { ${given.join(", ")} };`,
  );
  // The keys are short, and so may be reserved words.
  const keys = carried.map((property) => property.split(":")[0]!);
  const taken = keys.map((key) => `${key}: ${key}$`);
  const passed = keys.map((key) => `${key}$ as ${key}`);
  files.set(
    `${chunk}.js`,
    `import { ${CARRIER} } from "./${name}.js";
const { ${taken.join(", ")} } = ${CARRIER}[${PROPERTY}];
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
  const parts = partsOf("host", main);
  const files = await bundle(
    { ...entries, ...parts },
    (input) => ({
      // The files that heddle looks for lie beside that of the host.
      chunkFileNames: ({ name }) =>
        main === MAIN || name === main.chunk || /^(?:features|deferred-core)\//.test(name)
          ? "[name].js"
          : `${main.name}/[name].js`,
      codeSplitting: grouping(main, input),
    }),
    main,
  );
  mergeHost(main, files);
  await finishParts(files, {
    folder: main.deferred!,
    main: `${main.name}.js`,
    carried: `${CARRIER}[${PROPERTY}]`,
    shares: `${main.chunk}.js`,
  });
  return files;
}

async function bundleWorker(entries: Entries): Promise<Map<string, string>> {
  const [first = ""] = Object.keys(entries);
  const main = [WORKER, CORE_WORKER].find(({ name }) => name === first);
  const folder = main?.deferred;
  const parts = folder === undefined ? {} : partsOf("worker", main!);
  const files = await bundle(
    { ...entries, ...parts },
    (input) => ({
      chunkFileNames: ({ name }) =>
        name.startsWith(`${first}/`) || name.startsWith("deferred")
          ? "[name].js"
          : `${first.split("/")[0]}/[name].js`,
      ...(main !== undefined && { codeSplitting: grouping(main, input) }),
    }),
    main,
  );
  if (folder !== undefined) {
    const file = `${first}.js`;
    const code = files.get(file) ?? "";
    const [, exported = ""] = EXPORTS.exec(code) ?? [];
    files.set(file, code.replace(EXPORTS, () => `export {${exported}, loadPart };`));
    const carried = [...namesIn(exported)].map(([key, own]) => `${key}: ${own}`);
    await finishParts(files, {
      folder,
      main: file,
      carried: `({ ${carried.join(", ")} })`,
      shares: file,
    });
  }
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
    ...workers.map(bundleWorker),
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
    writeFileSync(path, finish(name.endsWith(".cjs") ? code : await shrink(name, code)));
  }
}
