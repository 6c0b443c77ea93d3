/** Loads the modules of a pool's tasks in the worker and finds each task by its export name. */
import type { TaskSource } from "../lane/start-data.ts";
import { mayBorrow } from "../codec/kinds/borrow.ts";
import type { Signature } from "../codec/struct/signature.ts";
import { InvalidArgumentError, TaskNotFoundError } from "../errors.ts";

/** Marks the objects that `task()` returns; shared with `task.ts` through the global symbol registry. */
const TASK = Symbol.for("heddle.task");

/** A task as the worker runs it. */
export interface WorkerTask {
  readonly f: (...args: unknown[]) => unknown;
  /** Whether borrowed bytes may be read in place. False for an async function, which may read them later. */
  readonly mayBorrow: boolean;
  /** Its index in the pool, and the declared types of its values. */
  readonly index: number;
  readonly signature: Signature | undefined;
  /** Whether its last argument is an abort signal. */
  readonly hasSignal: boolean;
}

/** Loads the functions of `sources`, in order. Rethrows a module's error, or throws TaskNotFoundError. */
export async function loadTasks(sources: readonly TaskSource[]): Promise<WorkerTask[]> {
  const modules = new Map<string, Promise<Record<string, unknown>>>();
  for (const { moduleUrl } of sources) {
    if (!modules.has(moduleUrl)) modules.set(moduleUrl, import(/* @vite-ignore */ moduleUrl));
  }
  // Waits for all imports before it reports the first failure, so that no rejection stays unhandled.
  await Promise.allSettled(modules.values());
  const functions: WorkerTask[] = [];
  for (const source of sources) {
    const module = await modules.get(source.moduleUrl)!;
    const { f, args, returns, abortSignal } = findTask(module, source);
    functions.push({
      f,
      mayBorrow: mayBorrow(f),
      index: functions.length,
      signature: await loadSignature(source, args, returns),
      hasSignal: source.hasSignal || (abortSignal !== undefined && abortSignal !== false),
    });
  }
  return functions;
}

/** Loads the code for structs only if there are any. Throws InvalidArgumentError if the pool's declaration differs. */
async function loadSignature(
  { name, moduleUrl, declares }: TaskSource,
  args: unknown,
  returns: unknown,
): Promise<Signature | undefined> {
  if (args === undefined && returns === undefined && declares === undefined) return undefined;
  const { describeSignature, signatureOf } = await import("../codec/struct/signature.ts");
  const signature = signatureOf(args, returns);
  const actual = describeSignature(signature);
  if (actual === declares) return signature;
  throw new InvalidArgumentError(
    `Task "${name}" of ${moduleUrl} declares ${actual ?? "nothing"}, but the pool was told ` +
      `${
        declares ?? "nothing"
      }: importTask() takes the same \`args\` and \`returns\` as the task().`,
  );
}

/** The options that a `task()` may declare. */
interface DeclaredTask {
  readonly f: WorkerTask["f"];
  readonly args?: unknown;
  readonly returns?: unknown;
  readonly abortSignal?: unknown;
}

function findTask(module: Record<string, unknown>, source: TaskSource): DeclaredTask {
  const { name, moduleUrl, exportName } = source;
  const exported = Object.hasOwn(module, exportName) ? module[exportName] : undefined;
  if (typeof exported === "function") return { f: exported as WorkerTask["f"] };
  if (typeof exported === "object" && exported !== null && TASK in exported) {
    const declared = exported as unknown as Partial<DeclaredTask>;
    if (typeof declared.f === "function") return declared as DeclaredTask;
  }
  const found = exported === undefined ? "it has no such export" : `that is ${typeof exported}`;
  throw new TaskNotFoundError(
    `Task "${name}" must be a function or task() exported as "${exportName}" from ${moduleUrl}; ` +
      `${found}. A task of another module is declared there with task({ f }), or here with ` +
      "importTask({ href, name }). If the module was taken from the stack: a tail call, as in () => createPool(…), " +
      "hides its module there on Bun; pass createPool({ moduleUrl: import.meta.url }).",
  );
}

/** Whether a task's result has to be awaited. May throw: `then` can be a getter. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null &&
    typeof (value as { then?: unknown }).then === "function";
}
