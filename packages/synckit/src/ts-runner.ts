/** Which file a worker runs, whether it is an ES module, and with which flags Node loads it. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { compareNodeVersion } from "./common.ts";
import {
  DEFAULT_EXEC_ARGV,
  IMPORT_FLAG,
  LOADER_FLAG,
  NO_STRIP_TYPES,
  NO_STRIP_TYPES_FLAG,
  REQUIRE_ABBR_FLAG,
  STRIP_TYPES_FLAG,
  stripsTypes,
  TRANSFORM_TYPES_FLAG,
  TRANSFORM_TYPES_NODE_VERSION,
  TsRunner,
} from "./constants.ts";
import { hasImportFlag, hasLoaderFlag, hasRequireFlag, isFile } from "./helpers.ts";
import type { PackageJson } from "./types.ts";

/** What `setupTsRunner` returns. */
export interface WorkerScript {
  /** The extension of the file. */
  ext: string;
  isTs: boolean;
  /** Whether a JavaScript file is an ES module. */
  jsUseEsm: boolean;
  tsRunner: TsRunner | undefined;
  /** Whether a TypeScript file is an ES module. */
  tsUseEsm: boolean;
  workerPath: string;
  execArgv: string[];
}

/** A `.ts` beside a `.js` that a program names is meant, unless a package has it. */
const SOURCES: Readonly<Record<string, readonly string[]>> = {
  ".cjs": [".cts", ".cjs"],
  ".mjs": [".mts", ".mjs"],
  ".js": [".ts", ".js"],
  "": [".ts", ".js", ""],
};

function findScript(path: string): string {
  const ext = extname(path);
  const extensions = SOURCES[ext];
  if (extensions === undefined || /[/\\]node_modules[/\\]/.test(path)) return path;
  const base = path.slice(0, path.length - ext.length);
  const found = extensions.find((extension) => isFile(base + extension));
  return found === undefined ? path : base + found;
}

/** Whether the nearest `package.json` says that files are ES modules. */
function isModulePackage(path: string): boolean {
  for (let folder = dirname(path);; folder = dirname(folder)) {
    const file = join(folder, "package.json");
    if (isFile(file)) {
      return (JSON.parse(readFileSync(file, "utf8")) as PackageJson).type === "module";
    }
    if (folder === dirname(folder)) return false;
  }
}

/** Whether flags, or else this process, turn the loading of TypeScript off. */
function isStripOff(execArgv: readonly string[]): boolean {
  const [off, strip, transform] = [NO_STRIP_TYPES_FLAG, STRIP_TYPES_FLAG, TRANSFORM_TYPES_FLAG]
    .map((flag) => execArgv.indexOf(flag)) as [number, number, number];
  return off > strip || off > transform || (strip < 0 && transform < 0 && NO_STRIP_TYPES);
}

function hasTsNode(): boolean {
  try {
    createRequire(import.meta.url).resolve("ts-node");
    return true;
  } catch {
    return false;
  }
}

function defaultRunner(isOff: boolean): TsRunner | undefined {
  if (process.versions["bun"]) return TsRunner.Bun;
  if (!isOff) return TsRunner.Node;
  return hasTsNode() ? TsRunner.TsNode : undefined;
}

const byRequire = (execArgv: string[], name: string): string[] =>
  hasRequireFlag(execArgv) ? execArgv : [REQUIRE_ABBR_FLAG, name, ...execArgv];
const byImport = (execArgv: string[], name: string): string[] =>
  hasImportFlag(execArgv) ? execArgv : [IMPORT_FLAG, name, ...execArgv];
const byLoader = (execArgv: string[], name: string): string[] =>
  hasLoaderFlag(execArgv) ? execArgv : [LOADER_FLAG, name, ...execArgv];

function nodeFlags(execArgv: string[], isOff: boolean): string[] {
  if (isOff) throw new Error("type stripping is disabled explicitly");
  if (stripsTypes) return execArgv;
  const flag = compareNodeVersion(TRANSFORM_TYPES_NODE_VERSION) >= 0
    ? TRANSFORM_TYPES_FLAG
    : STRIP_TYPES_FLAG;
  return execArgv.includes(flag) ? execArgv : [flag, ...execArgv];
}

/** The flags that load a runner. */
function flagsOf(
  runner: TsRunner | undefined,
  execArgv: string[],
  isModule: boolean,
  isOff: boolean,
): string[] {
  switch (runner) {
    case TsRunner.Bun:
      return execArgv;
    case TsRunner.Node:
      return nodeFlags(execArgv, isOff);
    case TsRunner.TsNode:
      return isModule ? byLoader(execArgv, "ts-node/esm") : byRequire(execArgv, "ts-node/register");
    case TsRunner.EsbuildRegister:
      return isModule
        ? byLoader(execArgv, "esbuild-register/loader")
        : byRequire(execArgv, "esbuild-register");
    case TsRunner.EsbuildRunner:
      return byRequire(execArgv, "esbuild-runner/register");
    case TsRunner.OXC:
      return byImport(execArgv, "@oxc-node/core/register");
    case TsRunner.SWC:
      return isModule
        ? byImport(execArgv, "@swc-node/register/esm-register")
        : byRequire(execArgv, "@swc-node/register");
    case TsRunner.TSX:
      return byImport(execArgv, "tsx");
    default:
      throw new Error(`Unknown ts runner: ${String(runner)}`);
  }
}

/** Finds the file of a worker, and the flags for it. */
export function setupTsRunner(
  workerPath: string,
  { execArgv = DEFAULT_EXEC_ARGV, tsRunner }: { execArgv?: string[]; tsRunner?: TsRunner } = {},
): WorkerScript {
  workerPath = findScript(workerPath);
  const ext = extname(workerPath);
  const isTs = /^\.[cm]?ts$/.test(ext);
  const isModule = ext.startsWith(".m") || (!ext.startsWith(".c") && isModulePackage(workerPath));
  if (isTs) {
    const isOff = isStripOff(execArgv);
    tsRunner ??= defaultRunner(isOff);
    execArgv = flagsOf(tsRunner, execArgv, isModule, isOff);
  }
  return {
    ext,
    isTs,
    jsUseEsm: isModule && !isTs,
    tsRunner,
    tsUseEsm: isModule && isTs,
    workerPath,
    execArgv,
  };
}

const WITHOUT_MTS: readonly (TsRunner | undefined)[] = [
  TsRunner.EsbuildRegister,
  TsRunner.EsbuildRunner,
  TsRunner.TSX,
];

/** Throws for what a runner cannot load. */
export function checkRunner({ ext, tsRunner, tsUseEsm }: WorkerScript): void {
  if (!/^\.[cm]ts$/.test(ext)) return;
  const cannot = tsUseEsm ? WITHOUT_MTS : WITHOUT_MTS.slice(0, 2);
  if (!cannot.includes(tsRunner)) return;
  const other = tsUseEsm ? `"oxc" or "swc"` : `"tsx"`;
  throw new Error(
    `${tsRunner} is not supported for ${ext} files yet, you can try ${other} instead`,
  );
}
