/**
 * Builds the ES modules that runtimes load: few files, since each costs Node half a millisecond at the start of a program
 * and of every worker, beside its text. A host loads `mod.js`, `host.js`, `base.js` and `structs.js`, a worker
 * `worker/heddle-worker.js` and `base.js`; files of `LATER` follow when something uses them. `shared.js` (heddle/shared) needs no
 * more than `base.js`. Bundlers get more and smaller files (tsup.config.ts).
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";
import { type CodeSplittingOptions, type Plugin, rolldown } from "rolldown";

const { version: VERSION } = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8"),
) as { readonly version: string };
const root: string = fileURLToPath(new URL("../", import.meta.url));
const MAIN: string = join(root, "src/mod.ts");
const SHARED: string = join(root, "src/mod-shared.ts");
const TASK: string = join(root, "src/mod-task.ts");
const WORKER: string = join(root, "src/worker/entry.ts");
const STRUCTS: string = join(root, "src/codec/struct/");

/**
 * Files that are loaded when they are needed, and the modules whose function loads them. The name of the folder changes with the version,
 * so that a program does not load them from another heddle that was installed while it ran.
 */
const LATER: Readonly<Record<string, string>> = {
  [`later-${VERSION}/structs`]: "src/codec/struct/later.ts",
  [`later-${VERSION}/rare-parts`]: "src/api/pool/later.ts",
};

/** `import { x } from "./file.ts"; export const loadX = (): typeof x => x;` */
const LATER_SOURCE =
  /^import \{ (\w+) \} from "(.+)";\s+export const (\w+) = \(\): typeof (\w+) => \4;\s*$/m;

function laterSource(path: string) {
  const text = readFileSync(path, "utf8");
  const [, name = "", from = "", exported = ""] = LATER_SOURCE.exec(text) ?? [];
  if (name === "") throw new Error(`${path} is not of the form that the build replaces.`);
  return { name, exported, path: join(path, "..", from) };
}

/** Replaces the modules of `LATER`. */
const later: Plugin = {
  name: "later",
  load: (id) => {
    const [file] = Object.entries(LATER).find(([, path]) => join(root, path) === id) ?? [];
    if (file === undefined) return undefined;
    const { name, exported } = laterSource(id);
    const loader = JSON.stringify(join(root, "src/runtimes/load-file.ts"));
    return `import { loadFile } from ${loader};\n` +
      `export const ${exported} = () => loadFile("./${file}.js").${name};\n`;
  },
};

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

/** The file of each module that several entries may load. */
function grouping(entries: ReadonlySet<string>): CodeSplittingOptions {
  let reach: Record<"host" | "shared" | "task" | "worker", Set<string>> | undefined;
  const nameOf = (id: string, moduleOf: (id: string) => Module): string | null => {
    reach ??= {
      host: loadedBy(MAIN, moduleOf),
      shared: loadedBy(SHARED, moduleOf),
      task: loadedBy(TASK, moduleOf),
      worker: loadedBy(WORKER, moduleOf),
    };
    const { host, shared, task, worker } = reach;
    if (entries.has(id)) return null;
    if (worker.has(id)) return id.startsWith(join(WORKER, "..")) ? null : "base";
    if (!host.has(id)) return null; // an adapter's, or what an `import()` loads
    if (id.startsWith(STRUCTS)) return "structs";
    return task.has(id) || shared.has(id) ? "base" : "host";
  };
  return {
    includeDependenciesRecursively: false,
    groups: [{
      name: (id, context) => nameOf(id, (other) => context.getModuleInfo(other)),
      debugName: "heddle",
    }],
  };
}

/** Builds `entries`, sources by the path of their output without `.js`, into `folder`. `finish` makes a file's final text. */
export async function buildModules(
  entries: Readonly<Record<string, string>>,
  folder: string,
  finish: (code: string) => string,
): Promise<void> {
  const input = Object.fromEntries(
    Object.entries(entries).map(([name, path]) => [name, join(root, path)]),
  );
  for (const [file, path] of Object.entries(LATER)) {
    input[file] = laterSource(join(root, path)).path;
  }
  const bundle = await rolldown({
    input,
    platform: "node",
    plugins: [later],
    external: [/^node:/, /^@nats-io\//],
    preserveEntrySignatures: "allow-extension", // that groups may be made; no entry is imported by another file
    checks: { preferBuiltinFeature: false },
  });
  const { output } = await bundle.generate({
    format: "esm",
    chunkFileNames: "[name].js",
    codeSplitting: grouping(new Set(Object.values(input))),
    minify: false,
  });
  await bundle.close();
  for (const file of output) {
    if (file.type !== "chunk") {
      throw new Error(`The build made ${file.fileName}, which is no module.`);
    }
    // A seventh of the time that importing takes Node goes into spaces and comments. Names stay, and so do short lines,
    // of which runtimes print the one that threw.
    const { code } = await transform(file.code, {
      minifyWhitespace: true,
      lineLimit: 120,
      target: "node22",
    });
    const path = join(folder, file.fileName);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, finish(code));
  }
}
