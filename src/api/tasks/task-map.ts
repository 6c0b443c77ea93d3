/** Reads the entries of a task map: settings, functions, shapes and locations. */
import { isObject } from "../../option-checks.ts";
import type { GivenSettings } from "../../host/calls/call-settings.ts";
import { settingsOf } from "../options/call-options.ts";
import { InvalidArgumentError } from "../../errors.ts";
import { isClass } from "../../protocol/classes.ts";
import type { TaskSource } from "../../protocol/start-data.ts";
import { declaredAt } from "../../realm/declared-tasks.ts";
import { type ModuleFinder, moduleUrlOf } from "../options/module-url.ts";
import { hasSignal } from "./declare.ts";
import {
  type AnyFunction,
  type DeclaredSignature,
  type ImportedTask,
  TASK,
  type Task,
} from "./task-types.ts";
import type { Check } from "../../features/values/structs/validation.ts";

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

/** The function of the entry `name` of a task map, unless only workers load it. */
export function functionOf(
  name: string,
  entry: unknown,
): ((...args: unknown[]) => unknown) | undefined {
  if (typeof entry === "function") return entry as AnyFunction;
  const declared = declaredTask(entry);
  if (declared === undefined || "href" in declared) return undefined;
  return declared[TASK].checked?.(name, checkOf(name, entry) !== undefined) ?? declared.f;
}

/** What checks the argument of the entry `name` of a task map on the host, if anything. */
export function checkOf(name: string, entry: unknown): Check | undefined {
  return declaredTask(entry)?.[TASK].hostCheck?.(name);
}

/** The declared shapes of an entry of a task map. */
export function declaredBy(entry: unknown): DeclaredSignature | undefined {
  return declaredTask(entry)?.[TASK].signature?.();
}

/**
 * Where workers find the entry `key` of a task map. `caller` is the module that calls `createPool`; `locate` completes
 * modules that are known from the stack.
 */
export function locateTask(
  key: string,
  entry: unknown,
  caller: string | undefined,
  runtime: ModuleFinder,
  locate: (file: string | undefined) => string | undefined = (file) => file,
): Omit<TaskSource, "name" | "declares" | "hasSignal" | "isChecked"> {
  const urlOf = (location: string | undefined, base?: string): string => {
    if (location !== undefined) return moduleUrlOf(location, base, runtime);
    throw new InvalidArgumentError(
      `The stack does not show which module exports task "${key}"; pass createPool({ moduleUrl: import.meta.url }).`,
    );
  };
  if (isClass(entry)) {
    throw new InvalidArgumentError(
      `Task "${key}" is a class, which cannot be called: pass a function that uses it.`,
    );
  }
  if (typeof entry === "function") {
    const moduleUrl = urlOf(caller);
    return {
      moduleUrl,
      exportName: key,
      declared: undefined,
      functionName: entry.name,
      functionText: String(entry),
    };
  }
  const task = declaredTask(entry);
  if (task !== undefined) {
    const { location, base, place } = task[TASK];
    const isImported = "href" in task;
    const moduleUrl = isImported ? urlOf(location, locate(base)) : urlOf(locate(location));
    if (isImported) {
      return { moduleUrl, exportName: task.name, declared: undefined, functionName: undefined };
    }
    const declared = place !== undefined && declaredAt(place) === task
      ? { place, text: String(task.f) }
      : undefined;
    return { moduleUrl, exportName: key, declared, functionName: undefined };
  }
  throw new InvalidArgumentError(
    `Task "${key}" must be an exported function, a task() or an importTask(), got ${
      entry === null ? "null" : typeof entry
    }.`,
  );
}
