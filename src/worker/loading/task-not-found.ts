/** Why a task was not found in its module. A worker loads this file when it needs it. */
import { TaskNotFoundError } from "../../errors.ts";
import { isClass } from "../../protocol/classes.ts";
import type { TaskSource } from "../../protocol/start-data.ts";

/** `foundName`: the name of another function that the module exports by the task's name. */
export function taskNotFound(
  { name, moduleUrl, exportName, declared, functionName }: TaskSource,
  exported: unknown,
  foundName: string | undefined,
): TaskNotFoundError {
  if (foundName !== undefined) {
    return new TaskNotFoundError(
      `Task "${name}" is a function named "${functionName}", but ${moduleUrl} exports a function named ` +
        `"${foundName}" as "${exportName}". Use the export's name as the key, or wrap the function in task().`,
    );
  }
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
