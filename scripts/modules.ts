/**
 * Builds the ES modules that runtimes load. A host loads one file and a worker one, since each file costs Node one to three
 * milliseconds at the start of a program and of every worker, beside its text. Neither shares a file with the other: what both
 * need is in both. `heddle/task` and `heddle/shared`, which hosts and workers load, have all they need as well, and agree with
 * the copy beside them through `globalThis` (`realm/`), as copies of other formats do. Bundlers get more and smaller files
 * (tsup.config.ts).
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type CodeSplittingOptions,
  type OutputChunk,
  type OutputOptions,
  type Plugin,
  rolldown,
} from "rolldown";
import { shrink } from "./shrink.ts";

const root: string = fileURLToPath(new URL("../", import.meta.url));

/** Sources by the path of their output without `.js`. */
export type Entries = Readonly<Record<string, string>>;

/** The entry whose file holds the host. */
const MAIN = "mod";
/** The chunk of all that MAIN loads, as rolldown makes it. */
const HOST = "host";
/** The function of MAIN that carries what other entries import of the host. */
const CARRIER = "createPool";

/** Puts all that MAIN loads at once into the chunk HOST. */
function grouping(main: string, entries: ReadonlySet<string>): CodeSplittingOptions {
  let host: Set<string> | undefined;
  return {
    includeDependenciesRecursively: false,
    groups: [{
      name: (id, context) => {
        host ??= loadedBy(main, (other) => context.getModuleInfo(other));
        return host.has(id) && !entries.has(id) ? HOST : null;
      },
      debugName: HOST,
    }],
  };
}

type Module = { readonly importedIds: readonly string[] } | null;

/** The modules that `entry` imports at once, directly or not, with itself. */
function loadedBy(entry: string, moduleOf: (id: string) => Module): Set<string> {
  const loaded = new Set<string>();
  const visit = (id: string): void => {
    if (loaded.has(id)) return;
    loaded.add(id);
    for (const other of moduleOf(id)?.importedIds ?? []) visit(other);
  };
  visit(entry);
  return loaded;
}

/** A host where no thread can start loads the worker's file as it is. */
const toWorker: Plugin = {
  name: "to-worker",
  resolveId: (id) =>
    /^\..*\/mod-worker\.ts$/.test(id) ? { id: "./heddle-worker.js", external: true } : null,
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
  return new Map(output.map((file) => [file.fileName, (file as OutputChunk).code]));
}

/** `a as b, c` by the names after `as`. */
function namesIn(list: string): Map<string, string> {
  return new Map(
    list.split(",").map((part) => part.trim().split(" as ")).filter(([name]) => name !== "")
      .map(([name = "", other = name]) => [other, name]),
  );
}

const EXPORTS = /\bexport \{([^}]*)\};\s*$/;
const REEXPORTS = /^\s*export \{([^}]*)\} from "\.\/host\.js";\s*$/;

/**
 * Makes one file of MAIN, which only exports what is in HOST, and of that. A module has no exports for friends alone: what
 * other entries import of it is a property of `createPool`, from which the file HOST, which they load, takes it.
 */
function mergeHost(files: Map<string, string>): void {
  const host = files.get(`${HOST}.js`) ?? "";
  const [, all] = EXPORTS.exec(host) ?? [];
  const [, exported] = REEXPORTS.exec(files.get(`${MAIN}.js`) ?? "") ?? [];
  if (all === undefined || exported === undefined) {
    throw new Error(`${MAIN}.js does more than to export what is in ${HOST}.js.`);
  }
  const internal = namesIn(all);
  const local = new Map(
    [...namesIn(exported)].map(([name, key]) => [name, internal.get(key)!]),
  );
  const given = [...local].map(([name, own]) => `${own} as ${name}`);
  const carried = [...internal].map(([key, own]) => `${key}: ${own}`);
  const property = `Symbol.for("heddle.host")`;
  files.set(
    `${MAIN}.js`,
    `${host.replace(EXPORTS, "")}
Object.defineProperty(${local.get(CARRIER)!}, ${property}, { value: { ${carried.join(", ")} } });
export { ${given.join(", ")} };`,
  );
  // The keys are short, and so may be reserved words.
  const taken = [...internal.keys()].map((key) => `${key}: ${key}$`);
  const passed = [...internal.keys()].map((key) => `${key}$ as ${key}`);
  files.set(
    `${HOST}.js`,
    `import { ${CARRIER} } from "./${MAIN}.js";
const { ${taken.join(", ")} } = ${CARRIER}[${property}];
export { ${passed.join(", ")} };`,
  );
}

/** What is built together shares its modules. */
interface Groups {
  /** With MAIN: the entries that only hosts load. */
  readonly hosts: Entries;
  /** Each is a group of its own, and one file. */
  readonly alone: Entries;
  /** Groups of what only workers load. */
  readonly workers: readonly Entries[];
}

/** Builds `groups` into `folder`. `finish` makes a file's final text. */
export async function buildModules(
  { hosts, alone, workers }: Groups,
  folder: string,
  finish: (code: string) => string,
): Promise<void> {
  const files = await bundle(hosts, (input) => ({
    chunkFileNames: "[name].js",
    codeSplitting: grouping(input[MAIN]!, new Set(Object.values(input))),
  }));
  mergeHost(files);
  const others = [
    ...Object.entries(alone).map(([name, path]) =>
      bundle({ [name]: path }, () => ({ codeSplitting: false }))
    ),
    ...workers.map((entries) => {
      const [first = ""] = Object.keys(entries);
      return bundle(entries, () => ({ chunkFileNames: `${first.split("/")[0]}/[name].js` }));
    }),
  ];
  for (const group of others) {
    for (const [name, code] of await group) {
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
