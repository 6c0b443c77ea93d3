/** Loads the modules of a pool's tasks in the worker and finds each task by its export name. */
import type { TaskSource } from "../endpoint/worker-start.ts";
import { mayBorrow } from "../codec/loan.ts";
import { describeSignature, type Signature, signatureOf } from "../codec/struct/signature.ts";
import { InvalidArgumentError, TaskNotFoundError } from "../errors.ts";

/** Marks what `task()` returns; shared with `task.ts` through the global symbol registry. */
const TASK = Symbol.for("heddle.task");

/** A task as the worker runs it. */
export interface WorkerTask {
  readonly f: (...args: unknown[]) => unknown;
  /** Whether lent bytes may be read in place: not by an async function, which may read them later. */
  readonly mayBorrow: boolean;
  /** Its index in the pool, and what it declares of its values. */
  readonly index: number;
  readonly signature: Signature | undefined;
  /** Whether it gets a signal as its last argument. */
  readonly hasSignal: boolean;
}

/** The functions of `sources`, in order. Throws what a module throws, or TaskNotFoundError. */
export async function loadTasks(sources: readonly TaskSource[]): Promise<WorkerTask[]> {
  const modules = new Map<string, Promise<Record<string, unknown>>>();
  for (const { moduleUrl } of sources) {
    if (!modules.has(moduleUrl)) modules.set(moduleUrl, import(/* @vite-ignore */ moduleUrl));
  }
  // Every import settles before the first failure is reported: none stays unhandled.
  await Promise.allSettled(modules.values());
  const functions: WorkerTask[] = [];
  for (const source of sources) {
    const module = await modules.get(source.moduleUrl)!;
    const found = findTask(module, source);
    checkSignature(source, found);
    const hasSignal = found.hasSignal || source.hasSignal;
    functions.push({ ...found, hasSignal, index: functions.length });
  }
  return functions;
}

function checkSignature({ name, moduleUrl, declares }: TaskSource, found: FoundTask): void {
  const actual = describeSignature(found.signature);
  if (actual === declares) return;
  throw new InvalidArgumentError(
    `Task "${name}" of ${moduleUrl} declares ${actual}, but the pool was told ${declares}: ` +
      "importTask() takes the same `args` and `returns` as the task().",
  );
}

type FoundTask = Omit<WorkerTask, "index">;

function createTask(f: unknown, declared: DeclaredTask): FoundTask {
  return {
    f: f as WorkerTask["f"],
    mayBorrow: mayBorrow(f),
    signature: signatureOf(declared.args, declared.returns),
    hasSignal: declared.abortSignal !== undefined && declared.abortSignal !== false,
  };
}

/** What a task() may say of itself. */
interface DeclaredTask {
  readonly f?: unknown;
  readonly args?: unknown;
  readonly returns?: unknown;
  readonly abortSignal?: unknown;
}

function findTask(module: Record<string, unknown>, source: TaskSource): FoundTask {
  const { name, moduleUrl, exportName } = source;
  const exported = Object.hasOwn(module, exportName) ? module[exportName] : undefined;
  if (typeof exported === "function") return createTask(exported, {});
  if (typeof exported === "object" && exported !== null && TASK in exported) {
    const { f } = exported as DeclaredTask;
    if (typeof f === "function") return createTask(f, exported as DeclaredTask);
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
