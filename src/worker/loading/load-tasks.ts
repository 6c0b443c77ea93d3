/** Loads what a worker needs before it takes calls: its setup module, then its tasks. */
import { Error, Set } from "../../builtins.ts";
import { packError } from "../../codec/codec.ts";
import { isError, textOf } from "../../codec/kinds/errors.ts";
import { TaskNotFoundError } from "../../errors.ts";
import type { StartFailure, StartOutcome, StartPart } from "../../protocol/start-data.ts";
import type { WorkerRuntime } from "../../runtimes/runtime.ts";
import type { WorkerCore } from "../worker-core.ts";
import { LoadFailure } from "./import-module.ts";
import { runSetup } from "./setup.ts";
import { loadModule, loadTasks } from "./task-modules.ts";

/** URLs of the modules that the worker loads. */
export function modulesOf({ start, modules }: WorkerCore): readonly string[] {
  const { tasks, taskModule, setup } = start;
  const taskModules = tasks.length === 0 && taskModule !== undefined
    ? [taskModule]
    : tasks.map(({ moduleUrl }) => moduleUrl);
  return [...new Set([setup, ...modules, ...taskModules].filter((url) => url !== undefined))];
}

/** Loads the tasks, unless the site has them, and what features load behind them. Resolves also if that fails. */
export async function load(core: WorkerCore): Promise<StartOutcome> {
  const { start, realm, runtime } = core;
  const { setup, tasks, taskModule } = start;
  let part: StartPart = "setup";
  try {
    if (setup !== undefined) await runSetup(setup, realm, runtime);
    part = "module";
    const module = tasks.length > 0 || taskModule === undefined
      ? undefined
      : await loadModule(taskModule, core);
    core.named = module?.descriptions ?? tasks;
    for (const loadMore of core.loads) await loadMore();
    core.tasks = module?.tasks ?? await loadTasks(tasks, core);
    realm.isLoading = false;
    return { heddle: "ready", tasks: module?.descriptions };
  } catch (error) {
    if (part === "module" && error instanceof TaskNotFoundError) part = "export";
    return startFailure(part, error, runtime);
  }
}

function startFailure(part: StartPart, error: unknown, runtime: WorkerRuntime): StartFailure {
  if (!(error instanceof LoadFailure)) {
    return { heddle: "failed", part, error: packReasonOf(runtime, error) };
  }
  const { module, place, reason } = error;
  return { heddle: "failed", part, error: packReasonOf(runtime, reason), module, place };
}

/** An error as bytes; of anything else its text. */
export function packReasonOf(runtime: WorkerRuntime, reason: unknown): Uint8Array {
  const error = isError(reason) ? reason : new Error(textOf(reason));
  try {
    return packError(runtime, error);
  } catch {
    return packError(runtime, new Error(textOf(reason))); // the reason cannot be encoded
  }
}
