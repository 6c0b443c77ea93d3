/**
 * Node's permission model applies to each thread that is started with its own flags. This file turns the option
 * `permission` into flags and environment, and reports the parts that Node cannot enforce.
 */
import { Set } from "../../builtins.ts";
import { process } from "../node-api/process/process.ts";
import type { Permission, WorkerLimits } from "../runtime.ts";
import type { LimitOptions } from "../node-api/threads/worker-threads.ts";

const path = () => process.getBuiltinModule("node:path");
const toPath = (url: string) => process.getBuiltinModule("node:url").fileURLToPath(url);

/** The flag that grants each permission, and its scope in `process.permission`. */
const FLAGS = {
  net: ["--allow-net", "net"],
  run: ["--allow-child-process", "child"],
  workers: ["--allow-worker", "worker"],
  ffi: ["--allow-addons", "addon"],
  wasi: ["--allow-wasi", "wasi"],
} as const;
const PATH_FLAGS = {
  read: ["--allow-fs-read", "fs.read"],
  write: ["--allow-fs-write", "fs.write"],
} as const;

type Own = {
  has(scope: string, path?: string): boolean;
  drop?(scope: string, path: string): void;
};

/** Set only in a confined thread. */
const own = (process as { permission?: Own }).permission;

/** Whether this version of Node has a flag. A permission without a flag cannot be denied. */
const knows = (flag: string): boolean => process.allowedNodeEnvironmentFlags.has(flag);

/** Permissions that cannot be denied to a worker, or that this process lacks and so cannot grant, as phrases. */
export function refusePermission(permission: Permission): string[] {
  const reasons: string[] = [];
  if (!permission.net && !knows("--allow-net")) {
    reasons.push(`Node ${process.versions.node} cannot deny \`net\` (25 and later can)`);
  }
  // A worker may read the working directory unless that permission is dropped.
  const isDropped = canDrop || isWithin(process.cwd(), pathsOf(permission.read));
  if (permission.read !== true && !isDropped) {
    reasons.push(
      `Node ${process.versions.node} cannot deny \`read\` of the current folder: name it (24 and later can)`,
    );
  }
  // A worker's limits replace those of the host, so they must not be wider.
  for (const key of Object.keys(FLAGS) as (keyof typeof FLAGS)[]) {
    const [flag, scope] = FLAGS[key];
    if (permission[key] && knows(flag) && own?.has(scope) === false) {
      reasons.push(`this process may not \`${key}\` itself`);
    }
  }
  for (const key of ["read", "write"] as const) {
    const scope = PATH_FLAGS[key][1];
    const paths = permission[key] === true ? [undefined] : pathsOf(permission[key]);
    for (const path of paths) {
      if (path?.includes("*")) reasons.push(`Node takes the * in ${path} for anything`);
      if (own?.has(scope, path) === false) {
        reasons.push(`this process may not \`${key}\` ${path ?? "everything"} itself`);
      }
    }
  }
  return reasons;
}

const [major = 0] = process.versions.node.split(".").map(Number);
/** Whether threads can drop permissions; `own.drop` exists only in confined threads. */
const canDrop = major >= 24;

/** Listed paths and file URLs as absolute paths. */
function pathsOf(given: boolean | readonly string[]): string[] {
  if (typeof given === "boolean") return [];
  const { resolve } = path();
  return given.map((given) => resolve(given.startsWith("file:") ? toPath(given) : given));
}

function isWithin(file: string, folders: readonly string[]): boolean {
  const { join, sep } = path();
  return folders.some((folder) => file === folder || file.startsWith(join(folder, sep)));
}

/** Folders that a worker must read to start: the library's, and those of the tasks. */
function neededPaths(library: string, modules: readonly string[]): string[] {
  const { dirname, join, resolve } = path();
  const folder = resolve(toPath(library));
  // An import of the library by name reads its manifest.
  const paths = new Set([folder, join(dirname(folder), "package.json")]);
  for (const url of modules) {
    if (!url.startsWith("file:")) continue;
    const file = toPath(url);
    for (const needed of [file, realPathOf(file)]) {
      // A confined host allows no folder that it may not read itself.
      const folder = dirname(needed);
      paths.add(own === undefined || own.has("fs.read", folder) ? folder : needed);
    }
  }
  return [...paths];
}

function realPathOf(file: string): string {
  try {
    return process.getBuiltinModule("node:fs").realpathSync(file);
  } catch {
    return file; // the worker reports the error
  }
}

/** Options of a `Worker` that enforce `permission`. */
export function confine(
  permission: Permission,
  library: string,
  modules: readonly string[],
): LimitOptions {
  const execArgv = ["--permission"];
  for (const key of ["read", "write"] as const) {
    const [flag] = PATH_FLAGS[key];
    if (permission[key] === true) execArgv.push(`${flag}=*`);
    else {
      const paths = pathsOf(permission[key]);
      if (key === "read") paths.push(...neededPaths(library, modules));
      // Folders before their contents: otherwise Node denies reading the folders themselves.
      paths.sort((a, b) => a.length - b.length);
      execArgv.push(...paths.map((path) => `${flag}=${path}`));
    }
  }
  for (const key of Object.keys(FLAGS) as (keyof typeof FLAGS)[]) {
    const [flag] = FLAGS[key];
    if (permission[key] && knows(flag)) execArgv.push(flag);
  }
  return { execArgv, env: environment(permission.env) };
}

/** The allowed environment variables, except the one that could widen the flags. */
function environment(allowed: boolean | readonly string[]): NodeJS.ProcessEnv {
  const names = allowed === true ? Object.keys(process.env) : allowed === false ? [] : allowed;
  const env: NodeJS.ProcessEnv = {};
  for (const name of names) {
    const value = process.env[name];
    if (value !== undefined && name.toUpperCase() !== "NODE_OPTIONS") env[name] = value;
  }
  return env;
}

/** Called in the worker, since Node lets every confined worker read the working directory. */
export function confineSelf(
  { permission }: WorkerLimits,
  library: string,
  modules: readonly string[],
): void {
  if (permission === undefined || permission.read === true || own?.drop === undefined) return;
  const cwd = process.cwd();
  if (!isWithin(cwd, [...pathsOf(permission.read), ...neededPaths(library, modules)])) {
    own.drop("fs.read", cwd);
  }
}
