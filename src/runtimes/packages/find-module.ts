/**
 * Finds the module that `import` of a package name loads in another module: no runtime resolves names for a module that is
 * not the running one. The algorithm is that of Node's documentation, "ESM resolution algorithm specification".
 */
import { JSON, URL } from "../../builtins.ts";
import { process } from "../node-api/process/process.ts";
import type { HostRuntime } from "../runtime.ts";

interface Search extends Pick<HostRuntime, "canRead"> {
  /** Conditions in `exports` that hold, besides `default`. */
  readonly conditions: readonly string[];
}

interface PackageData {
  readonly name?: unknown;
  readonly main?: unknown;
  readonly exports?: unknown;
  readonly imports?: unknown;
}

/** A package name, perhaps with a path in the package: `tasks`, `@acme/tasks/images`. */
const NAME = /^((?:@[^/\\%]+\/)?[^./\\%#@:][^/\\%:]*)(\/.*)?$/;

/**
 * The URL of the module `specifier`, a package name or `#name`, as the module with the URL `parent` imports it. Undefined: not
 * found.
 */
export function findPackageModule(
  specifier: string,
  parent: string,
  { importCondition, canRead, env }: Pick<HostRuntime, "importCondition" | "canRead" | "env">,
): string | undefined {
  const search = {
    conditions: [importCondition, "node", "import", "module-sync", ...givenConditions(env)],
    canRead,
  };
  const base = new URL(parent);
  if (base.protocol !== "file:") return undefined;
  const found = resolve(specifier, base, search)?.href;
  if (found !== undefined || !canRead(new URL(".", base))) return found;
  try {
    // Where packages are not in folders (Plug'n'Play), `require` knows the places.
    const { createRequire } = process.getBuiltinModule("node:module");
    const path = createRequire(pathOf(base)).resolve(specifier);
    return process.getBuiltinModule("node:url").pathToFileURL(path).href;
  } catch {
    return undefined;
  }
}

/** Conditions of the flag `--conditions` (`-C`), of the command line and of `NODE_OPTIONS`. */
function givenConditions(env: HostRuntime["env"]): readonly string[] {
  const flags = [...(env("NODE_OPTIONS") ?? "").split(/\s+/), ...process.execArgv];
  return flags.flatMap((flag, index) => {
    if (flag === "-C" || flag === "--conditions") return flags.slice(index + 1, index + 2);
    return flag.startsWith("--conditions=") ? [flag.slice("--conditions=".length)] : [];
  });
}

function resolve(specifier: string, parent: URL, search: Search): URL | undefined {
  const own = nearestPackage(parent, search);
  if (specifier.startsWith("#")) {
    return own && mapped(own.data.imports, specifier, own.folder, search);
  }
  const [, name, rest = ""] = NAME.exec(specifier) ?? [];
  if (name === undefined) return undefined;
  const subpath = `.${rest}`;
  if (own?.data.name === name && own.data.exports !== undefined) {
    return exported(own.data, subpath, own.folder, search);
  }
  for (let folder = new URL(".", parent);; folder = new URL("..", folder)) {
    const place = new URL(`node_modules/${name}/`, folder);
    const data = readPackage(place, search);
    if (data !== undefined) return exported(data, subpath, place, search);
    if (folder.pathname === new URL("..", folder).pathname) return undefined;
  }
}

function nearestPackage(
  parent: URL,
  search: Search,
): { readonly data: PackageData; readonly folder: URL } | undefined {
  for (let folder = new URL(".", parent);; folder = new URL("..", folder)) {
    const data = readPackage(folder, search);
    if (data !== undefined) return { data, folder };
    if (folder.pathname === new URL("..", folder).pathname) return undefined;
  }
}

function readPackage(folder: URL, { canRead }: Search): PackageData | undefined {
  const file = new URL("package.json", folder);
  try {
    if (!canRead(file)) return undefined;
    const text = process.getBuiltinModule("node:fs").readFileSync(pathOf(file), "utf8");
    return Object(JSON.parse(text)) as PackageData;
  } catch {
    return undefined;
  }
}

/** The module of a package at `subpath`, such as `.` or `./images`. */
function exported(
  { exports, main }: PackageData,
  subpath: string,
  folder: URL,
  search: Search,
): URL | undefined {
  if (exports !== undefined && exports !== null) {
    const isMap = typeof exports === "object" && Object.keys(exports)[0]?.startsWith(".") === true;
    return mapped(isMap ? exports : { ".": exports }, subpath, folder, search);
  }
  if (subpath !== ".") return existing(new URL(subpath, folder), search);
  const names = typeof main === "string" ? [main, `${main}.js`, `${main}/index.js`] : [];
  for (const name of [...names, "index.js"]) {
    const file = existing(new URL(name, folder), search);
    if (file !== undefined) return file;
  }
  return undefined;
}

/** The entry of `exports` or `imports` for a key; a key with `*` takes any text there, the longest such key first. */
function mapped(map: unknown, key: string, folder: URL, search: Search): URL | undefined {
  const entries = Object(map) as Record<string, unknown>;
  if (Object.hasOwn(entries, key) && !key.includes("*")) {
    return targeted(entries[key], "", folder, search);
  }
  const patterns = Object.keys(entries).filter((pattern) => pattern.includes("*"))
    .sort((one, other) => other.indexOf("*") - one.indexOf("*") || other.length - one.length);
  for (const pattern of patterns) {
    const [before = "", after = ""] = pattern.split("*");
    const isMatch = key.startsWith(before) && key.endsWith(after) && key.length >= pattern.length;
    if (!isMatch) continue;
    const text = key.slice(before.length, key.length - after.length);
    return targeted(entries[pattern], text, folder, search);
  }
  return undefined;
}

/** What a value of `exports` or `imports` names: a path, the first condition that holds, or the first of a list. */
function targeted(target: unknown, text: string, folder: URL, search: Search): URL | undefined {
  if (typeof target === "string") {
    const path = target.replaceAll("*", text);
    return path.startsWith("./")
      ? existing(new URL(path, folder), search)
      : resolve(path, folder, search);
  }
  if (typeof target !== "object" || target === null) return undefined;
  for (const [key, value] of Object.entries(target)) {
    const holds = Array.isArray(target) || key === "default" || search.conditions.includes(key);
    const found = holds ? targeted(value, text, folder, search) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Paths, since `node:fs` takes instances of the global `URL`, which may have been replaced. */
function pathOf(url: URL): string {
  return process.getBuiltinModule("node:url").fileURLToPath(url.href);
}

/** The file at `url`, by its real path: modules in linked packages are found from there. */
function existing(url: URL, { canRead }: Search): URL | undefined {
  const { realpathSync, statSync } = process.getBuiltinModule("node:fs");
  try {
    const path = pathOf(url);
    if (!canRead(url) || !statSync(path).isFile()) return undefined;
    return new URL(process.getBuiltinModule("node:url").pathToFileURL(realpathSync(path)).href);
  } catch {
    return undefined;
  }
}
