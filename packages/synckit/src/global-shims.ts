/** Modules that a worker loads before its script, as code. */
import { createRequire, isBuiltin } from "node:module";
import { isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";
import type { GlobalShim } from "./types.ts";

type Kind = "import" | "require";

/** Code that loads a module and sets its global. */
export function encodeImportModule(
  moduleNameOrGlobalShim: GlobalShim | string,
  type: Kind = "import",
): string {
  const { moduleName, globalName, named, conditional }: GlobalShim =
    typeof moduleNameOrGlobalShim === "string"
      ? { moduleName: moduleNameOrGlobalShim }
      : moduleNameOrGlobalShim;
  const source = type === "import" && isAbsolute(moduleName)
    ? pathToFileURL(moduleName).href
    : moduleName;
  const isNamed = Boolean(named?.trim());
  const wanted = isNamed ? `{${named}}` : globalName;
  const text = JSON.stringify(source);
  if (!globalName) return type === "import" ? `import ${text}` : `require(${text})`;
  const load = type === "require"
    ? `const ${wanted}=require(${text})`
    : `import ${named === null ? `* as ${globalName}` : wanted} from ${text}`;
  const set = `globalThis.${globalName}=${isNamed ? named : globalName}`;
  return `${load};${conditional === false ? "" : `if(!globalThis.${globalName})`}${set}`;
}

export const _generateGlobals = (globalShims: GlobalShim[], type: Kind): string =>
  globalShims.map((shim) => encodeImportModule(shim, type)).join(";");

/** The URL of a module as a worker finds it; undefined: it does not. */
function resolveFrom(workerPath: string, moduleName: string): string | undefined {
  if (isBuiltin(moduleName)) return moduleName;
  try {
    return pathToFileURL(createRequire(workerPath).resolve(moduleName)).href;
  } catch {
    return undefined;
  }
}

/** Those that a worker can find. */
export const findShims = (workerPath: string, globalShims: GlobalShim[]): GlobalShim[] =>
  globalShims.filter(({ moduleName }) => resolveFrom(workerPath, moduleName) !== undefined);

/** Code that loads the modules and sets their globals. Imports name URLs, which need not be resolved from the worker. */
export function generateGlobals(
  workerPath: string,
  globalShims: GlobalShim[],
  type: Kind = "import",
): string {
  if (type === "require") return _generateGlobals(globalShims, type);
  const resolved = globalShims.map((shim) => ({
    ...shim,
    moduleName: resolveFrom(workerPath, shim.moduleName) ?? shim.moduleName,
  }));
  return _generateGlobals(resolved, type);
}
