/**
 * Node's permission model, which holds for each thread that is started with flags of its own: what `permission`
 * comes to as flags and environment, and why it cannot be held to.
 */
import { realpathSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Permission, WorkerLimits } from "./runtime.ts";
import type { LimitOptions } from "./worker-threads.ts";

/** The flag that allows something, and the scope by which `process.permission` knows it. */
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

/** Set where this thread is confined itself. */
const own = (process as { permission?: Own }).permission;

/** Whether this Node knows a flag; what it does not know it cannot deny. */
const knows = (flag: string): boolean => process.allowedNodeEnvironmentFlags.has(flag);

/** What cannot be denied to a worker here, or may not be allowed to it, as phrases. */
export function refusePermission(permission: Permission): string[] {
  const reasons: string[] = [];
  if (!permission.net && !knows("--allow-net")) {
    reasons.push(`Node ${process.versions.node} cannot deny \`net\` (25 and later can)`);
  }
  // A worker may read the current folder unless that is dropped.
  const isDropped = canDrop || isWithin(process.cwd(), pathsOf(permission.read));
  if (permission.read !== true && !isDropped) {
    reasons.push(
      `Node ${process.versions.node} cannot deny \`read\` of the current folder: name it (24 and later can)`,
    );
  }
  // Limits of a worker's own replace those of the host: they must not be wider.
  for (const key of Object.keys(FLAGS) as (keyof typeof FLAGS)[]) {
    const [flag, scope] = FLAGS[key];
    if (permission[key] && knows(flag) && own?.has(scope) === false) {
      reasons.push(`this process may not \`${key}\` itself`);
    }
  }
  for (const key of ["read", "write"] as const) {
    for (const path of pathsOf(permission[key])) {
      if (path.includes("*")) reasons.push(`Node takes the * in ${path} for anything`);
    }
    const scope = PATH_FLAGS[key][1];
    const paths = permission[key] === true ? [undefined] : pathsOf(permission[key]);
    for (const path of paths) {
      if (own?.has(scope, path) === false) {
        reasons.push(`this process may not \`${key}\` ${path ?? "everything"} itself`);
      }
    }
  }
  return reasons;
}

const [major = 0] = process.versions.node.split(".").map(Number);
/** Whether a thread can give a permission away; it has the method only where it is confined. */
const canDrop = major >= 24;

/** Absolute paths of those that are listed; file URLs as well. */
function pathsOf(given: boolean | readonly string[]): string[] {
  if (typeof given === "boolean") return [];
  return given.map((path) => resolve(path.startsWith("file:") ? fileURLToPath(path) : path));
}

function isWithin(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(join(folder, sep)));
}

/** What a worker has to read to start: the library's folder, which is above that of its entry, and those of the tasks. */
function neededPaths([entry, ...modules]: readonly string[]): string[] {
  const library = dirname(dirname(fileURLToPath(entry!)));
  // Whoever imports it by name reads its manifest.
  const paths = new Set([library, join(dirname(library), "package.json")]);
  for (const url of modules) {
    if (!url.startsWith("file:")) continue;
    const file = fileURLToPath(url);
    for (const path of [file, realPathOf(file)]) {
      // A confined host allows no folder that it may not read itself.
      const folder = dirname(path);
      paths.add(own === undefined || own.has("fs.read", folder) ? folder : path);
    }
  }
  return [...paths];
}

function realPathOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file; // the worker will say what is wrong with it
  }
}

/** Node's permission model holds for each thread that is started with flags of its own. */
export function confine(permission: Permission, files: readonly string[]): LimitOptions {
  const execArgv = ["--permission"];
  for (const key of ["read", "write"] as const) {
    const [flag] = PATH_FLAGS[key];
    if (permission[key] === true) execArgv.push(`${flag}=*`);
    else {
      const paths = pathsOf(permission[key]);
      if (key === "read") paths.push(...neededPaths(files));
      // Folders before what is in them: Node says of the others that they may not be read themselves.
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

/** A copy of what may be seen, without the variable that would widen the flags. */
function environment(allowed: boolean | readonly string[]): NodeJS.ProcessEnv {
  const names = allowed === true ? Object.keys(process.env) : allowed === false ? [] : allowed;
  const env: NodeJS.ProcessEnv = {};
  for (const name of names) {
    const value = process.env[name];
    if (value !== undefined && name.toUpperCase() !== "NODE_OPTIONS") env[name] = value;
  }
  return env;
}

/** In the worker: Node lets every confined worker read the current folder, asked or not. */
export function confineSelf({ permission }: WorkerLimits, files: readonly string[]): void {
  if (permission === undefined || permission.read === true || own?.drop === undefined) return;
  const cwd = process.cwd();
  if (!isWithin(cwd, [...pathsOf(permission.read), ...neededPaths(files)])) {
    own.drop("fs.read", cwd);
  }
}
