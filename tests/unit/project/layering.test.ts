/** Layers import downwards only, and runtime names live in src/runtimes alone. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../../src", import.meta.url));

/** Layer by folder, or by file for those at the top of src. */
const LAYERS: Readonly<Record<string, number>> = {
  "builtins.ts": -1,
  "errors.ts": 0,
  "scope-errors.ts": 0,
  "request-errors.ts": 0,
  "shared-errors.ts": 0,
  "installation-error.ts": 0,
  "heddle-error.ts": 0,
  "version.ts": 0,
  "memory": 0,
  "realm": 0,
  "runtimes": 0,
  "own-folder.ts": 0,
  "option-checks.ts": 1,
  "shared-entry.ts": 1,
  "worker-entry.ts": 1,
  "ring": 1,
  "sync": 1,
  "codec": 2,
  "lane": 3,
  "metering": 4,
  "protocol": 4,
  "host": 5,
  "worker": 5,
  "api": 6,
  "features": 6.5,
  "core": 7,
  "dashboard": 7,
  "bundler": 7,
  "files": 7,
  "mod-task.ts": 7,
  "nats": 7,
  "shared": 7,
  "mod-nats.ts": 8,
  "mod-shared.ts": 8,
  "mod-dashboard.ts": 8,
  "mod-bundler.ts": 8,
  "mod-files.ts": 8,
  "mod-core.ts": 8,
  "mod.ts": 9,
  "mod-worker.ts": 7,
  "mod-core-worker.ts": 8,
  "mod-browser.ts": 10,
  "mod-browser-worker.ts": 10,
  "mod-browser-core.ts": 10,
  "mod-browser-core-worker.ts": 10,
};

/** Folders within a folder, from the lowest to the highest: each imports from itself and from those before it. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  host: ["calls", "lanes", "schedule", "dispatch/queue", "dispatch", "workers"],
  api: ["options", "tasks", "calls", "pool"],
};

/** The place of a file among the rooms of its folder; -1: it is in none. */
function roomOf(path: string): number {
  const [folder = "", ...rest] = path.split("/").slice(0, -1);
  return ROOMS[folder]?.indexOf(rest.join("/")) ?? -1;
}

/**
 * What src/nats may import below the public API: the codec with what it is made from, settings, checks and aborts of calls, and
 * streams, so that options, errors and streams are those of one process.
 */
const BELOW_NATS: readonly RegExp[] = [
  /^(?:codec|memory|features\/calls\/streams)\//,
  /^(?:builtins|errors|option-checks|realm\/(?:call-site|caller-stack))\.ts$/,
  /^api\/options\/(?:call-options|module-url|options|pool-options)\.ts$/,
  /^api\/(?:calls\/(?:call-proxy|call-types)|tasks\/task-types)\.ts$/,
  /^api\/pool\/(?:feature|pool|pool-types)\.ts$/,
  /^features\/(?:create-pool|host|values\/rare\/kinds\/other-bytes|calls\/limits\/host\/any-signal|watching\/observe\/host\/pool-statistics)\.ts$/,
  /^host\/(?:calls\/call-settings|dispatch\/pending-arguments)\.ts$/,
  /^protocol\/(?:abort-reason|is-streamable)\.ts$/,
  /^runtimes\/(?:bun\/bundles|current|node-api\/services|runtime)\.ts$/,
];

/** Types, and names that mean something to runtimes. */
const TYPES_OF_RUNTIMES = [
  "runtimes/runtime.ts",
  "runtimes/worker-handle.ts",
  "runtimes/processes/types.ts",
  "runtimes/printed.ts",
  "runtimes/output-lines.ts",
];

/** Only these may import the adapter of the current runtime. */
const COMPOSITION_ROOTS = [
  "api/pool/is-main.ts",
  "api/pool/pool.ts",
  "api/pool/shutdown-on-signals.ts",
  "core/create-pool.ts",
  "worker/entry.ts",
  "bundler/esbuild.ts",
  "bundler/rollup.ts",
  "files/file-ranges.ts",
  "files/read-lines.ts",
  "nats/caller/connect-pool.ts",
  "nats/machine/serve.ts",
  "shared/enter.ts",
];

/** Names of a runtime, outside comments and strings that merely mention one, and of the option `process`. */
const RUNTIME_NAMES =
  /(?<!\bgiven\.)\b(process|Deno|Bun|Buffer|setImmediate|__dirname|require)\b(?!["'`]|\??: )/;

interface Source {
  readonly path: string;
  readonly text: string;
  /** Without those of types of features, which `features.test.ts` counts. */
  readonly imports: readonly string[];
  /** Without those of types, of which nothing is left when the program runs. */
  readonly loads: readonly string[];
}

/** The kernel's types name those of features. When the program runs, none of that is left. */
const TYPES_OF_FEATURES =
  /^(?:import|export) (?:type \{[^}]*\}|\{(?:\s*type \w+(?: as \w+)?,?)+\s*\}) from "[^"]*features\/[^"]*";/gm;

const sources: readonly Source[] = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => {
    const text = readFileSync(join(root, path), "utf8");
    const imports = [
      ...text.replace(TYPES_OF_FEATURES, "").matchAll(
        /^(?:import|export)\b[^;"]*?from "([^"]+)"/gms,
      ),
    ].map((m) => m[1]!);
    const loads = [
      ...text.matchAll(/^(?:import|export)\b(?! type\b)[^;"]*?from "([^"]+)"/gms),
    ].map((m) => m[1]!);
    return { path: path.split(sep).join("/"), text, imports, loads };
  });

const layerOf = (path: string): number => LAYERS[path.includes("/") ? path.split("/")[0]! : path]!;
const folderOf = (path: string): string => path.includes("/") ? path.split("/")[0]! : "";
const target = (from: string, specifier: string): string =>
  posix.join(posix.dirname(from), specifier);

function withoutCommentsAndStrings(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/\/\/.*$/gm, "")
    .replace(/"(?:[^"\\\n]|\\.)*"|`(?:[^`\\$]|\\.|\$(?!\{))*`/g, '""');
}

test("the list of modules is not empty", () => {
  expect(sources.length).toBeGreaterThan(30);
  expect(relative(dirname(root), root)).toBe("src");
  expect(sources.flatMap(({ imports }) => imports).length).toBeGreaterThan(100);
});

describe.each(sources)("$path", ({ path, text, imports }) => {
  test("belongs to a layer, and to a room if its folder has rooms", () => {
    expect(layerOf(path)).toBeTypeOf("number");
    if (folderOf(path) in ROOMS) expect(roomOf(path)).toBeGreaterThanOrEqual(0);
  });

  test("imports its own folder or lower layers", () => {
    for (const specifier of imports) {
      if (!specifier.startsWith(".")) {
        // Packages of NATS are the peers of one entry point alone.
        if (!specifier.startsWith("@nats-io/")) expect(path).toMatch(/^runtimes\//);
        else expect(path).toMatch(/^nats\//);
        continue;
      }
      const to = target(path, specifier);
      if (folderOf(to) !== "" && folderOf(to) === folderOf(path)) {
        if (folderOf(path) in ROOMS) expect([to, roomOf(to) <= roomOf(path)]).toEqual([to, true]);
        continue;
      }
      const isSharedTypes = to === "errors.ts" || to === "heddle-error.ts" ||
        ["installation-error.ts", "request-errors.ts", "scope-errors.ts", "shared-errors.ts"]
          .includes(to) ||
        to === "runtimes/runtime.ts";
      if (!isSharedTypes) expect([to, layerOf(to) < layerOf(path)]).toEqual([to, true]);
      if (folderOf(to) === "runtimes" && !TYPES_OF_RUNTIMES.includes(to)) {
        expect(COMPOSITION_ROOTS).toContain(path);
      }
    }
  });

  test("of NATS imports what it may of the core", () => {
    if (folderOf(path) !== "nats") return;
    for (const specifier of imports.filter((name) => name.startsWith("."))) {
      const to = target(path, specifier);
      const isAllowed = folderOf(to) === "nats" || BELOW_NATS.some((pattern) => pattern.test(to));
      expect([to, isAllowed]).toEqual([to, true]);
    }
  });

  test("names no runtime outside src/runtimes", () => {
    if (path.startsWith("runtimes/")) return;
    expect(withoutCommentsAndStrings(text).match(RUNTIME_NAMES)?.[0]).toBeUndefined();
    expect(text).not.toMatch(/from "node:/);
  });

  test("imports no namespace, because bundled namespaces read inherited properties", () => {
    // `scripts/deferred.ts` knows this name; bundlers find each member by itself.
    const others = text.replace(/^import \* as deferred from "[\w./-]+\/deferred\.ts";$/m, "");
    expect(others).not.toMatch(/^import \* as \w+ from "\./m);
    expect(others.replaceAll(/\bdeferred\.\w/g, "")).not.toMatch(
      text === others ? /^(?!)/ : /\bdeferred\b/,
    );
  });

  test("is within the size limit", () => {
    expect(text.split("\n").length).toBeLessThanOrEqual(451);
  });

  test("has Latin-1 comments on members, so engines store the build at one byte per character", () => {
    const comments = text.split("\n").filter((line) => /^ {2,}(?:\/\*\*|\*)/.test(line));
    expect(comments.filter((line) => /[\u0100-\uffff]/.test(line))).toEqual([]);
  });
});

test("modules do not load each other in a circle", () => {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) throw new Error(`cycle: ${[...trail, path].join(" → ")}`);
    if (done.has(path)) return;
    for (const specifier of byPath.get(path)!.loads) {
      if (specifier.startsWith(".")) visit(target(path, specifier), [...trail, path]);
    }
    done.add(path);
  };
  for (const { path } of sources) visit(path, []);
});
