/** Node: `promise.then` is the cheaper microtask (23 ns against 122 on Node 22). */
import { dirname } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Permission, Runtime } from "./runtime.ts";
import { createRuntime, type LimitOptions, microtaskByPromise } from "./worker-threads.ts";

export function createNodeRuntime(): Runtime {
  return createRuntime({
    name: "node",
    microtask: microtaskByPromise,
    turnsPerYield: 1,
    refuseLimits: ({ permission }) => permission === undefined ? [] : refuse(permission),
    limitOptions: ({ resourceLimits, permission }, files) => ({
      ...(resourceLimits === undefined ? {} : { resourceLimits }),
      ...(permission === undefined ? {} : confine(permission, files)),
    }),
  });
}

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

/** Set where the host is confined itself. */
const own = (process as { permission?: { has(scope: string, path?: string): boolean } }).permission;

function refuse(permission: Permission): string[] {
  const reasons: string[] = [];
  const flags = process.allowedNodeEnvironmentFlags;
  if (!permission.net && !flags.has("--allow-net")) {
    reasons.push(`Node ${process.versions.node} cannot deny \`net\` (25 and later can)`);
  }
  // Limits of a worker's own replace those of the host: they must not be wider.
  for (const key of Object.keys(FLAGS) as (keyof typeof FLAGS)[]) {
    if (permission[key] && own?.has(FLAGS[key][1]) === false) {
      reasons.push(`this process may not \`${key}\` itself`);
    }
  }
  for (const key of ["read", "write"] as const) {
    const scope = PATH_FLAGS[key][1];
    const given = permission[key];
    const paths = given === true ? [undefined] : given === false ? [] : given;
    for (const path of paths) {
      if (own?.has(scope, path) === false) {
        reasons.push(`this process may not \`${key}\` ${path ?? "everything"} itself`);
      }
    }
  }
  return reasons;
}

/** Node's permission model holds for each thread that is started with flags of its own. */
function confine(permission: Permission, files: readonly string[]): LimitOptions {
  const execArgv = ["--permission"];
  for (const key of ["read", "write"] as const) {
    const [flag] = PATH_FLAGS[key];
    const given = permission[key];
    if (given === true) execArgv.push(`${flag}=*`);
    else if (given !== false) execArgv.push(...given.map((path) => `${flag}=${path}`));
  }
  if (permission.read !== true) {
    const folders = files.filter((url) => url.startsWith("file:"))
      .map((url) => dirname(fileURLToPath(url)));
    // The library's own folder is the one above that of the worker's entry.
    const readable = new Set([dirname(folders[0]!), ...folders.slice(1)]);
    execArgv.push(...[...readable].map((path) => `--allow-fs-read=${path}`));
  }
  for (const key of Object.keys(FLAGS) as (keyof typeof FLAGS)[]) {
    const [flag] = FLAGS[key];
    // What has no flag is not denied.
    if (permission[key] && process.allowedNodeEnvironmentFlags.has(flag)) execArgv.push(flag);
  }
  const { env } = permission;
  if (env === true) return { execArgv };
  const names = env === false ? [] : env;
  return {
    execArgv,
    env: Object.fromEntries(names.map((name) => [name, process.env[name]])) as NodeJS.ProcessEnv,
  };
}
