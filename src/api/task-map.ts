/** Reads the entries of a task map: settings, functions, shapes and locations. */
import { isObject } from "./checks.ts";
import { settingsOf } from "./call-options.ts";
import { type Signature, signatureOf } from "../codec/struct/signature.ts";
import { InvalidArgumentError } from "../errors.ts";
import type { GivenSettings } from "../host/cancel/call-settings.ts";
import { type AnyFunction, hasSignal, type ImportedTask, TASK, type Task } from "./task.ts";

/** The entry of a task map if it is a declared or imported task. */
function declaredTask(entry: unknown): Task | ImportedTask | undefined {
  return isObject(entry) && TASK in entry ? entry as Task | ImportedTask : undefined;
}

/** The settings that an entry of a task map declares for its calls. */
export function settingsOfTask(entry: unknown): GivenSettings {
  const declared = declaredTask(entry);
  if (declared === undefined) return {};
  return { ...settingsOf(declared.options ?? {}), hasSignal: hasSignal(declared.abortSignal) };
}

/** The function of an entry of a task map, unless only workers load it. */
export function functionOf(entry: unknown): ((...args: unknown[]) => unknown) | undefined {
  if (typeof entry === "function") return entry as AnyFunction;
  const declared = declaredTask(entry);
  return declared === undefined || "href" in declared ? undefined : declared.f;
}

/** The declared shapes of an entry of a task map. */
export function declaredBy(entry: unknown): Signature | undefined {
  const declared = declaredTask(entry);
  return declared && signatureOf(declared.args, declared.returns);
}

/** Module and export name of the entry `key` of a task map. `callerLocation` is the module of bare functions. */
export function locateTask(
  key: string,
  entry: unknown,
  callerLocation: string | undefined,
): { readonly location: string | undefined; readonly exportName: string } {
  if (typeof entry === "function") {
    if (entry.name !== key) {
      throw new InvalidArgumentError(
        `Task "${key}" is a function named "${entry.name}": the name of a bare function must match its key in ` +
          "the pool. Wrap it in task(), or use importTask({ href, name }) for another key.",
      );
    }
    return { location: callerLocation, exportName: key };
  }
  const declared = declaredTask(entry);
  if (declared !== undefined) {
    const exportName = "href" in declared ? declared.name : key;
    return { location: declared[TASK].location, exportName };
  }
  throw new InvalidArgumentError(
    `Task "${key}" must be an exported function, a task() or an importTask(), got ${
      entry === null ? "null" : typeof entry
    }.`,
  );
}
