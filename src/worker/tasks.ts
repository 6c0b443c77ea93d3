/** Loads the modules of a pool's tasks in the worker and finds each task by its export name. */
import type { TaskSource } from "../endpoint/worker-start.ts";
import { TaskNotFoundError } from "../errors.ts";
import type { TaskFunction } from "./loop.ts";

/** Marks what `task()` returns; shared with `task.ts` through the global symbol registry. */
const TASK = Symbol.for("heddle.task");

/** The functions of `sources`, in order. Throws what a module throws, or TaskNotFoundError. */
export async function loadTasks(sources: readonly TaskSource[]): Promise<TaskFunction[]> {
  const modules = new Map<string, Promise<Record<string, unknown>>>();
  for (const { moduleUrl } of sources) {
    if (!modules.has(moduleUrl)) modules.set(moduleUrl, import(/* @vite-ignore */ moduleUrl));
  }
  // Every import settles before the first failure is reported: none stays unhandled.
  await Promise.allSettled(modules.values());
  const functions: TaskFunction[] = [];
  for (const source of sources) {
    functions.push(findTask(await modules.get(source.moduleUrl)!, source));
  }
  return functions;
}

function findTask(module: Record<string, unknown>, source: TaskSource): TaskFunction {
  const { name, moduleUrl, exportName } = source;
  const exported = Object.hasOwn(module, exportName) ? module[exportName] : undefined;
  if (typeof exported === "function") return exported as TaskFunction;
  if (typeof exported === "object" && exported !== null && TASK in exported) {
    const { f } = exported as { f?: unknown };
    if (typeof f === "function") return f as TaskFunction;
  }
  const found = exported === undefined ? "it has no such export" : `that is ${typeof exported}`;
  throw new TaskNotFoundError(
    `Task "${name}" must be a function or task() exported as "${exportName}" from ${moduleUrl}; ` +
      `${found}. A task of another module is declared there with task({ f }), or here with ` +
      "importTask({ href, name }).",
  );
}
