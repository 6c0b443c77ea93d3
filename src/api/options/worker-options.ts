/** The option `worker` of `createPool`: what each worker runs before its tasks, and how its thread is started. */
import { handleSupport } from "../../realm/handles.ts";
import { structuredClone, URL as BuiltinURL } from "../../builtins.ts";
import { checkKeys, invalid, isObject, isRecord, ownOf, show } from "../../option-checks.ts";
import { type HeddleError, InvalidArgumentError, WorkerStartError } from "../../errors.ts";
import type { ThreadOptions } from "../../runtimes/runtime.ts";
import type { WorkerOptions } from "./pool-options.ts";
import type { Check, ResolvedWorkerOptions } from "./resolved-options.ts";

export const WORKER_OPTIONS: readonly string[] = [
  "setup",
  "data",
  "env",
  "argv",
  "execArgv",
  "name",
];

/** What the option stands for that is not given. */
export const DEFAULT_WORKER: ResolvedWorkerOptions = {
  data: undefined,
  name: "heddle",
  thread: { __proto__: null } as ThreadOptions,
};

/** Checks the option. Throws InvalidArgumentError. `ofPools`: the options beside it. */
export const checkWorkerOptions = (
  ...[given, to, { workers }, runtime, ofPools]: [...Parameters<Check>, ofPools: object]
): void => {
  if (!isRecord(given)) throw invalid("worker", "an object of options", show(given));
  checkKeys(
    "worker of createPool()",
    given,
    WORKER_OPTIONS,
    (name) =>
      Object.hasOwn(ofPools, name)
        ? `which is one of the pool: createPool({ ${name} })`
        : undefined,
  );
  const { setup, data, env, argv, execArgv, name = DEFAULT_WORKER.name } = ownOf<WorkerOptions>(
    given,
  );
  if (typeof name !== "string" || name === "") {
    throw invalid("worker.name", "a string that is not empty", show(name));
  }
  if (execArgv !== undefined && !runtime.takesExecArgv && workers !== "processes") {
    throw new InvalidArgumentError(
      "worker.execArgv has no effect on this runtime: only Node has flags for a thread.",
    );
  }
  if (setup !== undefined) to.modules = { ...to.modules, setup: checkSetup(setup) };
  to.workerOptions = {
    data: data === undefined ? undefined : cloneData("worker.data", data),
    name,
    // Without what a program may have added to the prototype of all objects.
    thread: {
      __proto__: null,
      ...(env !== undefined && { env: checkEnv(env) }),
      ...(argv !== undefined && { argv: checkTexts("worker.argv", argv) }),
      ...(execArgv !== undefined && { execArgv: checkTexts("worker.execArgv", execArgv) }),
    } as ThreadOptions,
  };
};

function cloneData(name: string, data: unknown): unknown {
  try {
    return structuredClone(handleSupport()?.pack(data) ?? data);
  } catch (cause) {
    const { message } = cause as Error;
    throw new InvalidArgumentError(`${name} cannot be cloned: ${message}`, { cause });
  }
}

function checkSetup(setup: unknown): string {
  if (typeof setup !== "string" && !(setup instanceof BuiltinURL)) {
    throw invalid("worker.setup", "the URL, path or package name of a module", show(setup));
  }
  return String(setup);
}

function checkEnv(env: unknown): NonNullable<ThreadOptions["env"]> {
  if (typeof env === "symbol") return env;
  if (!isRecord(env)) throw invalid("worker.env", "an object of strings or SHARE_ENV", show(env));
  for (const [key, value] of Object.entries(env)) {
    if (typeof value !== "string") throw invalid(`worker.env.${key}`, "a string", show(value));
  }
  return { ...env } as Record<string, string>;
}

function checkTexts(name: string, list: unknown): readonly string[] {
  if (!isObject(list) || !Array.isArray(list)) throw invalid(name, "a list of strings", show(list));
  const other = list.findIndex((text) => typeof text !== "string");
  if (other >= 0) throw invalid(`${name}[${other}]`, "a string", show(list[other]));
  return [...list] as string[];
}

/** The `code` of Node's error for flags that a thread cannot have. */
const BAD_FLAGS = "ERR_WORKER_INVALID_EXEC_ARGV";

/** What a runtime threw when it was to start a thread, as a coded error. */
export function startFailure(cause: unknown, { execArgv, env }: ThreadOptions): HeddleError {
  const { code, message } = Object(cause) as {
    readonly code?: unknown;
    readonly message?: unknown;
  };
  const text = typeof message === "string" ? message : show(cause);
  if (code === BAD_FLAGS && (execArgv !== undefined || env !== undefined)) {
    const option = text.includes("NODE_OPTIONS") ? "env.NODE_OPTIONS" : "execArgv";
    const flags = text.replace(/^[^:]*: */, "");
    return new InvalidArgumentError(
      `worker.${option} has flags that a worker cannot have: ${flags}. ` +
        "Such flags belong on the command line of the program; the option resourceLimits sets limits of heap and stack.",
      { cause },
    );
  }
  return new WorkerStartError(`A worker cannot be started: ${text}`, { cause });
}
