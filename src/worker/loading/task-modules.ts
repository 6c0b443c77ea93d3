/** Loads the modules of a pool's tasks in the worker, and finds or lists the tasks in them. */
import { Map, Promise, Set } from "../../builtins.ts";
import {
  MAX_MODULE_TASKS,
  type TaskDeclaration,
  type TaskDescription,
  type TaskSource,
} from "../../protocol/start-data.ts";
import { isClass } from "../../protocol/classes.ts";
import { pack } from "../../codec/codec.ts";
import type { Signature } from "../../codec/declared.ts";
import { mayBorrow } from "../../codec/support/intrinsics.ts";
import { InvalidArgumentError, TaskNotFoundError } from "../../errors.ts";
import type { CodecAccess } from "../../runtimes/runtime.ts";
import { declaredAt } from "../../realm/declared-tasks.ts";
import { isGeneratorFunction } from "../../protocol/generator-functions.ts";
import { type DeclaredSignature, seams } from "../feature.ts";
import type { WorkerTask } from "../task.ts";
import type { WorkerCore } from "../worker-core.ts";
import { type Imported, importModule, type Module } from "./import-module.ts";

/** Marks the objects that `task()` returns; shared with `task.ts` through the global symbol registry. */
const TASK: unique symbol = Symbol.for("heddle.task");

/** All tasks of a module, and their descriptions for the host. */
export interface LoadedModule {
  readonly tasks: readonly WorkerTask[];
  readonly descriptions: readonly TaskDescription[];
}

/**
 * Loads the functions of `sources`, in order, unless the site has them, by their index. Rethrows a module's error, or throws
 * TaskNotFoundError.
 */
export async function loadTasks(
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
    const given = declaredTask(known[index]);
    const declared = given ??
      findTask(exportsOf((await modules.get(source.moduleUrl)!).module), source);
    const { args, returns } = declared;
    const { signature, words } = args === undefined && returns === undefined
      ? NO_SIGNATURE
      : signatureOf(declared, source.name);
    if (words !== source.declares) throw otherDeclaration(source, words);
    const hasSignal = source.hasSignal || wantsSignal(declared);
    tasks.push(createTask(index, declared, source, signature, hasSignal, core));
  }
  return tasks;
}

/**
 * Loads a module and lists all functions and declared tasks that it exports, by name. Classes are not tasks, nor is an
 * export `then`, which would make a promise of `pool.call`.
 */
export async function loadModule(
  moduleUrl: string,
  core: WorkerCore,
): Promise<LoadedModule> {
  const { runtime } = core;
  const module = exportsOf((await importModule(moduleUrl, runtime)).module);
  const tasks: WorkerTask[] = [];
  const descriptions: TaskDescription[] = [];
  for (const name of Object.keys(module).sort()) {
    const declared = declaredTask(module[name]);
    if (declared === undefined || name === "then") continue;
    const { options, args, returns } = declared;
    const { signature, words: declares } = args === undefined && returns === undefined
      ? NO_SIGNATURE
      : signatureOf(declared, name);
    const hasSignal = wantsSignal(declared);
    const source = { name, isChecked: false };
    tasks.push(createTask(tasks.length, declared, source, signature, hasSignal, core));
    const isStream = isGeneratorFunction(declared.f);
    descriptions.push({
      name,
      hasSignal,
      isStream,
      declares,
      declared: options === undefined && args === undefined && returns === undefined
        ? undefined
        : packDeclaration({ options, args, returns }, moduleUrl, runtime),
    });
  }
  if (tasks.length > MAX_MODULE_TASKS) {
    throw new InvalidArgumentError(
      `${moduleUrl} exports ${tasks.length} functions; a task module may export at most ${MAX_MODULE_TASKS}.`,
    );
  }
  return { tasks, descriptions };
}

function packDeclaration(
  declaration: TaskDeclaration,
  moduleUrl: string,
  runtime: CodecAccess,
): Uint8Array {
  const packed = pack(runtime, declaration);
  if (packed !== undefined) return packed;
  throw new InvalidArgumentError(
    `The task options of ${moduleUrl} contain an object that cannot be copied to the host.`,
  );
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

/** `declared`: as its module exports it. `isChecked`: the host checks the arguments of its calls. */
function createTask(
  index: number,
  declared: DeclaredTask,
  { name, isChecked }: Pick<TaskSource, "name" | "isChecked">,
  signature: Signature | undefined,
  hasSignal: boolean,
  core: WorkerCore,
): WorkerTask {
  const check = declared[TASK]?.checked;
  const f = check?.(name, isChecked) ?? declared.f;
  const isStream = isGeneratorFunction(f);
  if (hasSignal && seams.wraps["hasSignal"] === undefined) {
    throw missing(name, "takes an abort signal", "limits");
  }
  const mustAwait = isGeneratorFunction(declared.f) || declared.f instanceof AsyncFunction;
  return withWraps({
    f,
    inline: mustAwait ? undefined : check?.(name, false) ?? declared.f,
    // A check may await first.
    mayBorrow: !isStream && check === undefined && mayBorrow(f),
    index,
    signature,
    hasSignal,
    isStream,
    highWaterMark: declared.options?.highWaterMark,
    emits: false,
    wraps: [],
  }, core);
}

const AsyncFunction = (async () => {}).constructor;

/** The task, with what the features that its properties ask for do around its calls. */
export function withWraps(task: WorkerTask, core: WorkerCore): WorkerTask {
  let { wraps } = task;
  for (const property in seams.wraps) {
    if (task[property as keyof WorkerTask] !== true) continue;
    const wrap = core.part(seams.wraps[property]!);
    if (!wraps.includes(wrap)) wraps = [...wraps, wrap];
  }
  return { ...task, wraps };
}

const NO_SIGNATURE: DeclaredSignature = { signature: undefined, words: undefined };

/** What a task declares of its values. */
function signatureOf({ args, returns }: DeclaredTask, name: string): DeclaredSignature {
  if (seams.signatureOf === undefined) throw missing(name, "declares its values", "structs");
  return seams.signatureOf(args, returns);
}

function missing(task: string, what: string, feature: string): InvalidArgumentError {
  return new InvalidArgumentError(
    `Task "${task}" ${what}, which needs ${feature}(): createPool({ use: [${feature}()] }).`,
  );
}

function wantsSignal({ abortSignal }: DeclaredTask): boolean {
  return abortSignal !== undefined && abortSignal !== false;
}

function otherDeclaration(
  { name, moduleUrl, declares }: TaskSource,
  actual: string | undefined,
): InvalidArgumentError {
  return new InvalidArgumentError(
    `Task "${name}" of ${moduleUrl} declares ${actual ?? "nothing"}, but the pool was told ` +
      `${
        declares ?? "nothing"
      }: importTask() takes the same \`args\` and \`returns\` as the task().`,
  );
}

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

/** An export as a task; undefined if it is none. */
function declaredTask(exported: unknown): DeclaredTask | undefined {
  if (isClass(exported)) return undefined;
  if (typeof exported === "function") return { f: exported as WorkerTask["f"] };
  if (typeof exported !== "object" || exported === null || !(TASK in exported)) return undefined;
  const declared = exported as unknown as Partial<DeclaredTask>;
  return typeof declared.f === "function" ? declared as DeclaredTask : undefined;
}

/** The task of `source`: by the place of its declaration, otherwise by its export name. */
function findTask(module: Module, source: TaskSource): DeclaredTask {
  const { name, moduleUrl, exportName, declared, functionName } = source;
  if (declared !== undefined) {
    const placed = declaredTask(declaredAt(declared.place));
    if (placed !== undefined && String(placed.f) === declared.text) return placed;
  }
  const exported = Object.hasOwn(module, exportName) ? module[exportName] : undefined;
  const found = declaredTask(exported);
  if (found !== undefined && (functionName === undefined || found.f.name === functionName)) {
    return found;
  }
  const same = sameFunction(module, source);
  if (same !== undefined) return same;
  if (found === undefined) throw notFound(source, exported);
  throw new TaskNotFoundError(
    `Task "${name}" is a function named "${functionName}", but ${moduleUrl} exports a function named ` +
      `"${found.f.name}" as "${exportName}". Use the export's name as the key, or wrap the function in task().`,
  );
}

/** The bare function of `source` under another name, if the module exports one function with its name and text. */
function sameFunction(module: Module, source: TaskSource): DeclaredTask | undefined {
  const { functionName, functionText } = source;
  if (functionText === undefined || functionText.endsWith("{ [native code] }")) return undefined;
  const same = new Set(
    Object.values(module).filter((exported) =>
      typeof exported === "function" && exported.name === functionName &&
      String(exported) === functionText
    ),
  );
  return same.size === 1 ? declaredTask([...same][0]) : undefined;
}

function notFound(source: TaskSource, exported: unknown): TaskNotFoundError {
  const { name, moduleUrl, exportName, declared, functionName } = source;
  const actual = exported === undefined
    ? `does not export "${exportName}"`
    : `exports "${exportName}" as ${isClass(exported) ? "a class" : typeof exported}`;
  if (functionName !== undefined) {
    return new TaskNotFoundError(
      `Task "${name}" is a bare function, so workers look for it in the module that calls createPool(); but ` +
        `${moduleUrl} ${actual}. Pass the module that exports it instead: ` +
        "createPool(options)(new URL(…, import.meta.url)); or declare it with task({ f }) in its own module. " +
        "On Bun, a tail call such as () => createPool(…) hides the calling module: pass moduleUrl: import.meta.url.",
    );
  }
  const place = declared === undefined
    ? ""
    : ` The declaration at ${declared.place} was not found either: the worker did not evaluate that place exactly ` +
      "once, or its function has another source text.";
  return new TaskNotFoundError(
    `Task "${name}" was not found: ${moduleUrl} ${actual} (a function or a task() is needed).${place}`,
  );
}
