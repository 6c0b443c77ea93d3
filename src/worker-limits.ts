/** What workers are held to: `resourceLimits` and `permission` of a pool, checked. */
import { textOf } from "./codec/fault.ts";
import { InvalidArgumentError } from "./errors.ts";
import type { Permission, ResourceLimits, WorkerLimits } from "./runtimes/runtime.ts";

/**
 * What tasks may do. What is not named is denied, and what the runtime cannot deny to a thread must be
 * allowed by name, or `createPool` throws.
 */
export interface PermissionOptions {
  /**
   * Files and folders that may be read, as paths; true: all. Workers may read heddle's own folder and
   * the folders of their task modules whatever this says.
   */
  readonly read?: boolean | readonly string[];
  readonly write?: boolean | readonly string[];
  readonly net?: boolean;
  /** Starting processes. They are not held to any of this. */
  readonly run?: boolean;
  /** Starting further threads. */
  readonly workers?: boolean;
  /** Native code, which is not held to any of this. */
  readonly ffi?: boolean;
  readonly wasi?: boolean;
  /** Environment variables, by name; true: all. */
  readonly env?: boolean | readonly string[];
}

/** "off" and "unsafe": what the host may. "strict": reading the current folder, and nothing else. */
export type PermissionMode = "off" | "unsafe" | "strict";

const LIST_KEYS = ["read", "write", "env"] as const;
const FLAG_KEYS = ["net", "run", "workers", "ffi", "wasi"] as const;
const PERMISSION_KEYS: readonly string[] = [...LIST_KEYS, ...FLAG_KEYS];
const LIMIT_KEYS = [
  "maxOldGenerationSizeMb",
  "maxYoungGenerationSizeMb",
  "codeRangeSizeMb",
  "stackSizeMb",
] as const;

const POSSIBLE =
  "Threads can be denied on Node: read, write (by path), run, workers, ffi, wasi, env, and from 25 on net; on " +
  "Deno: what the process itself may not; on Bun: nothing.";

/**
 * Checks both options; `refuse` says what this runtime cannot hold a worker to. Throws
 * InvalidArgumentError.
 */
export function checkWorkerLimits(
  resourceLimits: unknown,
  permission: unknown,
  refuse: (limits: WorkerLimits) => readonly string[],
): WorkerLimits {
  const limits: WorkerLimits = {
    resourceLimits: checkResources(resourceLimits),
    permission: checkPermission(permission),
  };
  const reasons = refuse(limits);
  if (reasons.length > 0) {
    throw new InvalidArgumentError(
      `Workers cannot be held to these limits: ${reasons.join("; ")}.` +
        (limits.permission === undefined ? "" : ` ${POSSIBLE}`),
    );
  }
  return limits;
}

function checkResources(given: unknown): ResourceLimits | undefined {
  if (given === undefined) return undefined;
  const limits = fieldsOf("resourceLimits", given, LIMIT_KEYS);
  for (const [key, value] of Object.entries(limits)) {
    if (typeof value !== "number" || !(value > 0) || value === Infinity) {
      throw new InvalidArgumentError(
        `resourceLimits.${key} must be a number of MiB above 0, got ${textOf(value)}.`,
      );
    }
  }
  return limits as ResourceLimits;
}

function checkPermission(given: unknown): Permission | undefined {
  if (given === undefined || given === "off" || given === "unsafe") return undefined;
  if (typeof given === "string" && given !== "strict") {
    throw new InvalidArgumentError(
      `permission must be "off", "unsafe", "strict" or an object, got "${given}".`,
    );
  }
  const asked = given === "strict"
    ? { read: ["."] }
    : fieldsOf("permission", given, PERMISSION_KEYS);
  const permission: Record<string, boolean | readonly string[]> = {};
  for (const key of FLAG_KEYS) {
    const value = asked[key] ?? false;
    if (typeof value !== "boolean") {
      throw new InvalidArgumentError(
        `permission.${key} must be a boolean (threads know no lists of it), got ${textOf(value)}.`,
      );
    }
    permission[key] = value;
  }
  for (const key of LIST_KEYS) {
    const value = asked[key] ?? false;
    const isList = Array.isArray(value) && value.every((each) => typeof each === "string");
    if (typeof value !== "boolean" && !isList) {
      throw new InvalidArgumentError(
        `permission.${key} must be a boolean or an array of strings, got ${textOf(value)}.`,
      );
    }
    permission[key] = isList ? [...value] as string[] : value as boolean;
  }
  return permission as unknown as Permission;
}

/** Own fields of an option, none of which may be of another name. */
function fieldsOf(
  option: string,
  given: unknown,
  keys: readonly string[],
): Record<string, unknown> {
  if (typeof given !== "object" || given === null) {
    throw new InvalidArgumentError(`${option} must be an object, got ${textOf(given)}.`);
  }
  for (const key of Object.keys(given)) {
    if (!keys.includes(key)) {
      throw new InvalidArgumentError(
        `${option} has no "${key}" that threads could be held to; it takes: ${keys.join(", ")}.`,
      );
    }
  }
  const fields: Record<string, unknown> = Object.create(null);
  for (const [key, value] of Object.entries(given)) {
    if (value !== undefined) fields[key] = value;
  }
  return fields;
}
