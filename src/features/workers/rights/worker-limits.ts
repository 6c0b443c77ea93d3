/** Options that limit workers, `resourceLimits` and `permission`, and their checks. */
import { invalid, isRecord, ownOf, show } from "../../../option-checks.ts";
import { InvalidArgumentError } from "../../../errors.ts";
import type { WorkerOptions } from "../../../api/options/pool-options.ts";
import type { Permission, ResourceLimits, WorkerLimits } from "../../../runtimes/runtime.ts";

const LIST_KEYS = ["read", "write", "env"] as const;
const FLAG_KEYS = ["net", "run", "workers", "ffi", "wasi"] as const;
const PERMISSION_KEYS = [...LIST_KEYS, ...FLAG_KEYS] as const;
const LIMIT_KEYS = [
  "maxOldGenerationSizeMb",
  "maxYoungGenerationSizeMb",
  "codeRangeSizeMb",
  "stackSizeMb",
] as const;

const POSSIBLE =
  "Node can deny to threads: read, write (by path), run, workers, ffi, wasi, env, and from 25 on net. Deno can deny " +
  "only the rights that the process does not have, Bun none.";

/** Checks both options. `worker`: the option of that name. `refuse` returns the limits that this runtime cannot enforce. Throws InvalidArgumentError. */
export function checkWorkerLimits(
  resourceLimits: unknown,
  permission: unknown,
  worker: unknown,
  refuse: (limits: WorkerLimits) => readonly string[],
): WorkerLimits {
  const limits: WorkerLimits = {
    resourceLimits: checkResources(resourceLimits),
    permission: checkPermission(permission),
  };
  const { env, execArgv } = ownOf<WorkerOptions>(Object(worker) as object);
  if (limits.permission !== undefined && (env !== undefined || execArgv !== undefined)) {
    throw new InvalidArgumentError(
      "worker.env and worker.execArgv cannot be combined with permission, which sets both; use permission.env.",
    );
  }
  const reasons = refuse(limits);
  if (reasons.length > 0) {
    throw new InvalidArgumentError(
      `This runtime cannot enforce these limits on workers: ${reasons.join("; ")}.` +
        (limits.permission === undefined ? "" : ` ${POSSIBLE}`),
    );
  }
  return limits;
}

function checkResources(given: unknown): ResourceLimits | undefined {
  if (given === undefined) return undefined;
  const limits = fieldsOf("resourceLimits", given, LIMIT_KEYS);
  for (const [key, value] of Object.entries(limits)) {
    if (typeof value !== "number" || !(value > 0 && value <= Number.MAX_SAFE_INTEGER)) {
      throw invalid(`resourceLimits.${key}`, "a number of MiB above 0", show(value));
    }
  }
  return limits as ResourceLimits;
}

function checkPermission(given: unknown): Permission | undefined {
  if (given === undefined || given === "off") return undefined;
  if (typeof given === "string" && given !== "strict") {
    throw invalid("permission", '"off", "strict" or an object', show(given));
  }
  const requested = given === "strict"
    ? { read: ["."] }
    : fieldsOf("permission", given, PERMISSION_KEYS);
  const entries = PERMISSION_KEYS.map((key) => [key, checkRight(key, requested[key] ?? false)]);
  return Object.fromEntries(entries) as Permission;
}

function checkRight(key: typeof PERMISSION_KEYS[number], value: unknown): boolean | string[] {
  if (typeof value === "boolean") return value;
  if ((FLAG_KEYS as readonly string[]).includes(key)) {
    throw invalid(
      `permission.${key}`,
      "a boolean (threads do not support lists of it)",
      show(value),
    );
  }
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return [...value];
  throw invalid(`permission.${key}`, "a boolean or an array of strings", show(value));
}

/** Own fields of an option that are not undefined. Throws if there are keys other than `keys`. */
function fieldsOf(
  option: string,
  given: unknown,
  keys: readonly string[],
): Record<string, unknown> {
  if (!isRecord(given)) throw invalid(option, "an object", show(given));
  const fields: Record<string, unknown> = Object.create(null);
  for (const [key, value] of Object.entries(given)) {
    if (!keys.includes(key)) {
      throw new InvalidArgumentError(
        `${option} has no "${key}" that applies to threads; it takes: ${keys.join(", ")}.`,
      );
    }
    if (value !== undefined) fields[key] = value;
  }
  return fields;
}
