/** Knitting's option `permission` in heddle's form. */
import type { PermissionOptions, PoolOptions } from "heddle";
import type { CreatePool, PermissionProtocol } from "./types.ts";
import { UnsupportedError } from "./unsupported.ts";

/** Lists of what is denied, and rights that no runtime takes from threads. */
const REFUSED = ["denyRead", "denyWrite", "denyNet", "denyRun", "denyFfi", "denySys", "sys"];
const RIGHTS = ["read", "write", "net", "env", "run", "workers", "ffi", "wasi"] as const;

/**
 * Undefined: the rights of the host. Knitting's threads have these too if the option is left out, although it calls
 * that strict. An explicit mode or right is enforced or refused.
 */
export function permissionOf(given: CreatePool["permission"]): PoolOptions["permission"] {
  if (given === undefined || given === "unsafe" || given === "off") return undefined;
  if (typeof given === "string") return permissionOf({ mode: given });
  const { mode, console: hasConsole, allowImport } = given;
  if (mode === "unsafe" || mode === "off") return undefined;
  const refused = REFUSED.filter((key) => isSet(given[key as keyof PermissionProtocol]));
  if (hasConsole === false) refused.push("console: false");
  if (Array.isArray(allowImport)) refused.push("allowImport (a list)");
  if (isSet(given.env?.deny)) refused.push("env.deny");
  if (isSet(given.env?.files)) refused.push("env.files");
  if (refused.length > 0) {
    throw new UnsupportedError(
      `permission: threads cannot be denied this: ${
        refused.join(", ")
      }. Leave it out, or run the program ` +
        "in a process that has only the rights that its tasks need.",
    );
  }
  if (mode === undefined && !RIGHTS.some((key) => given[key] !== undefined)) return undefined;
  return rightsOf(given);
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0);
}

function rightsOf(given: PermissionProtocol): PermissionOptions {
  const { read = ["."], write = [], net = [], run, workers, ffi, wasi, env, node, deno } = given;
  const pathOf = (path: string | URL): string => {
    const text = String(path);
    const isAbsolute = /^(?:[a-z][a-z0-9+.-]*:|[\\/])/i.test(text);
    return given.cwd === undefined || isAbsolute ? text : `${given.cwd}/${text}`;
  };
  const pathsOf = (paths: NonNullable<PermissionProtocol["read"]>): true | string[] =>
    paths === true || paths.map(pathOf);
  const allow = env?.allow ?? [];
  return {
    read: pathsOf(read),
    write: pathsOf(write),
    // Lists of these are passed on and so refused, unless they are empty.
    net: flagOf(net),
    run: flagOf(run) || deno?.["allowRun"] === true || node?.["allowChildProcess"] === true,
    workers: workers === true || node?.["allowWorker"] === true,
    ffi: flagOf(ffi) || node?.["allowAddons"] === true || node?.["allowFfi"] === true,
    wasi: flagOf(wasi) || node?.["allowWasi"] === true,
    env: allow,
  };
}

function flagOf(value: unknown): boolean {
  return isSet(value) && value as boolean;
}
