/** Loads what a worker needs before it takes calls: its setup module, then its tasks. */
import { Error, Set } from "../../builtins.ts";
import { packError } from "../../codec/codec.ts";
import { isError, textOf } from "../../codec/kinds/errors.ts";
import { TaskNotFoundError } from "../../errors.ts";
import type {
  StartFailure,
  StartPart,
  TaskDescription,
  WorkerStart,
} from "../../protocol/start-data.ts";
import type { WorkerRealm } from "../../realm/worker-realm.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { CallContext } from "../calls/call-context.ts";
import { LoadFailure } from "./import-module.ts";
import { runSetup } from "./setup.ts";
import { loadModule, loadTasks, type WorkerTask } from "./task-modules.ts";

/** URLs of the modules that the worker loads. */
export function modulesOf({ tasks, taskModule, setup, context }: WorkerStart): readonly string[] {
  const taskModules = tasks.length === 0 && taskModule !== undefined
    ? [taskModule]
    : tasks.map(({ moduleUrl }) => moduleUrl);
  return [...new Set([setup, context, ...taskModules].filter((url) => url !== undefined))];
}

export interface LoadedTasks {
  readonly tasks: readonly WorkerTask[];
  /** In the same order, with their names in `pool.call`. */
  readonly named: readonly { readonly name: string }[];
  readonly context: CallContext | undefined;
  /** If the host has none. */
  readonly descriptions: readonly TaskDescription[] | undefined;
}

/** Loads the tasks, unless they are among `known` by their index. Resolves with the failure if that fails. */
export async function load(
  start: WorkerStart,
  realm: WorkerRealm,
  runtime: Runtime,
  known: readonly unknown[],
): Promise<LoadedTasks | StartFailure> {
  let part: StartPart = "setup";
  try {
    if (start.setup !== undefined) await runSetup(start.setup, realm, runtime);
    part = "module";
    const loaded = await loadTasksOf(start, runtime, known);
    realm.isLoading = false;
    return loaded;
  } catch (error) {
    if (part === "module" && error instanceof TaskNotFoundError) part = "export";
    return startFailure(part, error, runtime);
  }
}

function startFailure(part: StartPart, error: unknown, runtime: Runtime): StartFailure {
  if (!(error instanceof LoadFailure)) {
    return { heddle: "failed", part, error: packReasonOf(runtime, error) };
  }
  const { module, place, reason } = error;
  return { heddle: "failed", part, error: packReasonOf(runtime, reason), module, place };
}

async function loadTasksOf(
  start: WorkerStart,
  runtime: Runtime,
  known: readonly unknown[],
): Promise<LoadedTasks> {
  const { tasks, taskModule } = start;
  const module = tasks.length > 0 || taskModule === undefined
    ? undefined
    : await loadModule(taskModule, runtime);
  const named = module?.descriptions ?? tasks;
  const context = start.context === undefined
    ? undefined
    : await CallContext.load(start.context, named.map(({ name }) => name), runtime);
  return {
    tasks: module?.tasks ?? await loadTasks(tasks, runtime, known),
    named,
    context,
    descriptions: module?.descriptions,
  };
}

/** An error as bytes; of anything else its text. */
export function packReasonOf(runtime: Runtime, reason: unknown): Uint8Array {
  const error = isError(reason) ? reason : new Error(textOf(reason));
  try {
    return packError(runtime, error);
  } catch {
    return packError(runtime, new Error(textOf(reason))); // the reason cannot be encoded
  }
}
