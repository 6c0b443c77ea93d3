/** Loads what a worker needs before it takes calls: its setup module, then its tasks, which it finds or lists in their modules. */
import { Error, Map, Promise, Set } from "../../builtins.ts";
import { pack, packError } from "../../codec/codec.ts";
import { isError, textOf } from "../../codec/kinds/errors.ts";
import { mayBorrow } from "../../codec/support/intrinsics.ts";
import { InvalidArgumentError, TaskNotFoundError } from "../../errors.ts";
import { isClass } from "../../protocol/classes.ts";
import { isGeneratorFunction } from "../../protocol/generator-functions.ts";
import {
  MAX_MODULE_TASKS,
  type StartOutcome,
  type StartPart,
  type TaskDeclaration,
  type TaskDescription,
  type TaskSource,
} from "../../protocol/start-data.ts";
import { declaredAt } from "../../realm/declared-tasks.ts";
import type { WorkerRealm } from "../../realm/worker-realm.ts";
import type { WorkerRuntime } from "../../runtimes/runtime.ts";
import { seams } from "../feature.ts";
import type { WorkerTask } from "../task.ts";
import type { WorkerCore } from "../worker-core.ts";
import { type Imported, importModule, LoadFailure, type Module } from "./import-module.ts";

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
    if (!(error instanceof LoadFailure)) {
      return { heddle: "failed", part, error: packReasonOf(runtime, error) };
    }
    const { module, place, reason } = error;
    return { heddle: "failed", part, error: packReasonOf(runtime, reason), module, place };
  }
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

/**
 * Loads the module, calls its default export with `data` and awaits the result, which is the worker's context.
 * Throws what the module throws, or InvalidArgumentError if its default export is not a function.
 */
async function runSetup(
  url: string,
  realm: WorkerRealm,
  runtime: WorkerRuntime,
): Promise<void> {
  const { module: { default: setup } } = await importModule(url, runtime);
  if (setup === undefined) return;
  if (typeof setup !== "function") {
    throw new InvalidArgumentError(`Its default export must be a function, got ${textOf(setup)}.`);
  }
  realm.isLoading = false; // it may create pools, as tasks may
  const context: unknown = await setup(realm.info.data);
  realm.info = Object.freeze({ ...realm.info, context });
  realm.isLoading = true;
}

/** Marks the objects that `task()` returns; shared with `task.ts` through the global symbol registry. */
const TASK: unique symbol = Symbol.for("heddle.task");

/** A task as `task()` declares it, or a bare function. */
interface DeclaredTask {
  readonly f: WorkerTask["f"];
  readonly options?: { readonly highWaterMark?: number };
  readonly args?: readonly unknown[];
  readonly returns?: unknown;
  readonly abortSignal?: unknown;
  /** `checked`: its function with the checks of its schemas, if it declares some. */
  readonly [TASK]?: {
    readonly checked?: (task: string, isChecked: boolean) => WorkerTask["f"];
  };
}

/**
 * Loads the functions of `sources`, in order, unless the site has them, by their index. Rethrows a module's error, or throws
 * TaskNotFoundError.
 */
async function loadTasks(
  sources: readonly TaskSource[],
  core: WorkerCore,
): Promise<readonly WorkerTask[]> {
  const { runtime, site: { known } } = core;
  const modules = new Map<string, Promise<Imported>>();
  for (const [index, { moduleUrl }] of sources.entries()) {
    if (known[index] === undefined && !modules.has(moduleUrl)) {
      modules.set(moduleUrl, importModule(moduleUrl, runtime));
    }
  }
  // Waits for all imports before it reports the first failure, so that no rejection stays unhandled.
  await Promise.allSettled(modules.values());
  const tasks: WorkerTask[] = [];
  for (const [index, source] of sources.entries()) {
    const { name, moduleUrl, declares } = source;
    const declared = declaredTask(known[index]) ??
      await findTask(exportsOf((await modules.get(moduleUrl)!).module), source);
    const { task, words } = createTask(index, name, declared, source);
    if (words !== declares) {
      throw new InvalidArgumentError(
        `Task "${name}" of ${moduleUrl} declares ${words ?? "nothing"}, but the pool was told ` +
          `${
            declares ?? "nothing"
          }: importTask() takes the same \`args\` and \`returns\` as the task().`,
      );
    }
    tasks.push(task);
  }
  return tasks;
}

/** All tasks of a module, and their descriptions for the host. */
interface LoadedModule {
  readonly tasks: readonly WorkerTask[];
  readonly descriptions: readonly TaskDescription[];
}

/**
 * Loads a module and lists all functions and declared tasks that it exports, by name. Classes are not tasks, nor is an
 * export `then`, which would make a promise of `pool.call`.
 */
async function loadModule(moduleUrl: string, core: WorkerCore): Promise<LoadedModule> {
  const module = exportsOf((await importModule(moduleUrl, core.runtime)).module);
  const tasks: WorkerTask[] = [];
  const descriptions: TaskDescription[] = [];
  for (const name of Object.keys(module).sort()) {
    const exported = declaredTask(module[name]);
    if (exported === undefined || name === "then") continue;
    const { f, options, args, returns } = exported;
    const { task, words: declares } = createTask(tasks.length, name, exported);
    tasks.push(task);
    let declared: Uint8Array | undefined;
    if (options !== undefined || args !== undefined || returns !== undefined) {
      declared = pack(core.runtime, { options, args, returns } satisfies TaskDeclaration);
      if (declared === undefined) {
        throw new InvalidArgumentError(
          `The task options of ${moduleUrl} contain an object that cannot be copied to the host.`,
        );
      }
    }
    const { hasSignal } = task;
    descriptions.push({ name, hasSignal, isStream: isGeneratorFunction(f), declares, declared });
  }
  if (tasks.length > MAX_MODULE_TASKS) {
    throw new InvalidArgumentError(
      `${moduleUrl} exports ${tasks.length} functions; a task module may export at most ${MAX_MODULE_TASKS}.`,
    );
  }
  return { tasks, descriptions };
}

/** The exports of a module. Those of a CommonJS module include all properties of its `module.exports`. */
function exportsOf(module: Module): Module {
  const { default: exported } = module;
  const isCommonJs = typeof exported === "object" && exported !== null && !(TASK in exported) &&
    ("module.exports" in module || "__esModule" in exported ||
      Object.keys(module).every((name) => name === "default" || name in exported));
  const all: Record<string, unknown> = { __proto__: null, ...module };
  delete all["module.exports"];
  return isCommonJs ? { __proto__: null, ...all, ...exported } : all;
}

const AsyncFunction = (async () => {}).constructor;

/** A task, and what it declares of its values, in words. `source`: as the host knows it. */
function createTask(
  index: number,
  name: string,
  declared: DeclaredTask,
  source?: TaskSource,
): { readonly task: WorkerTask; readonly words: string | undefined } {
  const { args, returns, abortSignal = false, options } = declared;
  const check = declared[TASK]?.checked;
  const f = check?.(name, source?.isChecked === true) ?? declared.f;
  const isStream = isGeneratorFunction(f);
  const hasSignal = source?.hasSignal === true || abortSignal !== false;
  const hasShapes = args !== undefined || returns !== undefined;
  const lacking = hasSignal && seams.wraps["hasSignal"] === undefined
    ? "limits"
    : hasShapes && seams.signatureOf === undefined
    ? "structs"
    : undefined;
  if (lacking !== undefined) {
    throw new InvalidArgumentError(
      `Task "${name}" needs ${lacking}(): createPool({ use: [${lacking}()] }).`,
    );
  }
  const shapes = hasShapes ? seams.signatureOf!(args, returns) : undefined;
  const mustAwait = isGeneratorFunction(declared.f) || declared.f instanceof AsyncFunction;
  const task = {
    f,
    inline: mustAwait ? undefined : check?.(name, false) ?? declared.f,
    // A check may await first.
    mayBorrow: !isStream && check === undefined && mayBorrow(f),
    index,
    signature: shapes?.signature,
    hasSignal,
    isStream,
    highWaterMark: options?.highWaterMark,
    emits: false,
    wraps: [],
  };
  return { task, words: shapes?.words };
}

/** An export as a task; undefined if it is none. */
function declaredTask(exported: unknown): DeclaredTask | undefined {
  if (typeof exported === "function") {
    return isClass(exported) ? undefined : { f: exported as WorkerTask["f"] };
  }
  if (typeof exported !== "object" || exported === null || !(TASK in exported)) return undefined;
  const declared = exported as unknown as Partial<DeclaredTask>;
  return typeof declared.f === "function" ? declared as DeclaredTask : undefined;
}

/** The task of `source`: by the place of its declaration, otherwise by its export name. */
async function findTask(module: Module, source: TaskSource): Promise<DeclaredTask> {
  const { exportName, declared, functionName, functionText } = source;
  if (declared !== undefined) {
    const placed = declaredTask(declaredAt(declared.place));
    if (placed !== undefined && String(placed.f) === declared.text) return placed;
  }
  const exported = Object.hasOwn(module, exportName) ? module[exportName] : undefined;
  const found = declaredTask(exported);
  if (found !== undefined && (functionName === undefined || found.f.name === functionName)) {
    return found;
  }
  // A bare function under another name, if the module exports one function with its name and text.
  if (functionText !== undefined && !functionText.endsWith("{ [native code] }")) {
    const same = new Set(
      Object.values(module).filter((other) =>
        typeof other === "function" && other.name === functionName && String(other) === functionText
      ),
    );
    if (same.size === 1) return declaredTask([...same][0])!;
  }
  const { taskNotFound } = await import("./task-not-found.ts");
  throw taskNotFound(source, exported, found?.f.name);
}
