/** What `task()` and `importTask()` do; their signatures are in `features/task.ts`. */
import { URL as BuiltinURL } from "../../builtins.ts";
import { describeValue } from "../../codec/support/describe.ts";
import { checkKeys, invalid, isRecord, ownOf } from "../../option-checks.ts";
import type { TaskOptions } from "../options/call-option-types.ts";
import { callOptionNames, callOptions, settingsOf } from "../options/call-options.ts";
import { InvalidArgumentError } from "../../errors.ts";
import { isClass } from "../../protocol/classes.ts";
import { type CallPlace, callPlaceOf } from "../../realm/call-site.ts";
import { noteDeclared } from "../../realm/declared-tasks.ts";
import type { TaskFeature } from "./feature.ts";
import {
  type AnyFunction,
  type Declared,
  type ImportedTask,
  TASK,
  type Task,
  type TaskDeclaration,
} from "./task-types.ts";

/** The options of a task, and what features have made of them. */
type Parts = TaskDeclaration & { readonly place?: CallPlace };

/** Declares a task. `task`: the function that was called. Throws InvalidArgumentError. */
export function declareTask(
  features: readonly TaskFeature[],
  task: (definition: never) => unknown,
  definition: { readonly f: AnyFunction },
): Task {
  if (!isRecord(definition) || typeof definition.f !== "function") {
    throw new InvalidArgumentError("task() needs an object with a function `f`.");
  }
  if (isClass(definition.f)) {
    throw new InvalidArgumentError(
      `task() needs a function \`f\` that can be called, got the class ${definition.f.name}.`,
    );
  }
  for (const feature of features) Object.assign(callOptions, feature.callOptions);
  const further = features.flatMap(({ taskOptions = [] }) => taskOptions);
  const known = ["f", ...further, "abortSignal", "place", ...callOptionNames("task")];
  checkKeys("task()", definition, known);
  const { f, place, ...own } = definition as { readonly f: AnyFunction } & Parts;
  // Also those that an object inherits from its class.
  const given: Record<string, unknown> = own;
  for (const name of further) {
    const inherited = Object.hasOwn(own, name) ? undefined : definition[name as "f"];
    if (inherited !== undefined) given[name] = inherited;
  }
  const declared = declare(features, given, f);
  const caller = place ?? callPlaceOf(task);
  const made: Task = {
    f,
    ...declarationOf(features, given),
    [TASK]: { location: caller?.module, place: caller?.place, ...declared },
  };
  if (caller?.place !== undefined) noteDeclared(caller.place, made);
  return made;
}

/** Names a task of another module. `importTask`: the function that was called. Throws InvalidArgumentError. */
export function declareImported(
  features: readonly TaskFeature[],
  importTask: (source: never) => unknown,
  source: object,
): ImportedTask {
  for (const feature of features) Object.assign(callOptions, feature.callOptions);
  const { href, name = "default", place, ...given } = Object(source) as Parts & {
    readonly href?: unknown;
    readonly name?: unknown;
  };
  if (typeof name !== "string" || (typeof href !== "string" && !(href instanceof BuiltinURL))) {
    throw new InvalidArgumentError(
      "importTask() needs `href` (string or URL), and takes `name` (string).",
    );
  }
  const location = String(href);
  const declared = declare(features, given, undefined);
  return {
    href: location,
    name,
    ...declarationOf(features, given),
    [TASK]: { location, base: (place ?? callPlaceOf(importTask))?.module, ...declared },
  };
}

/** What the features make of a declaration. */
function declare(
  features: readonly TaskFeature[],
  given: object,
  f: AnyFunction | undefined,
): Declared {
  const declared = {};
  for (const feature of features) {
    Object.assign(declared, feature.declare?.(ownOf(given) as Record<string, unknown>, f));
  }
  return declared;
}

/** Checks the other options. Throws InvalidArgumentError. */
function declarationOf(features: readonly TaskFeature[], given: object): TaskDeclaration {
  const { args, returns, abortSignal, ...options } = ownOf(given) as TaskOptions & TaskDeclaration;
  for (const { taskOptions = [] } of features) {
    // Hosts get the options, but not schemas, which have functions.
    for (const name of taskOptions) Reflect.deleteProperty(options, name);
  }
  settingsOf(options);
  hasSignal(abortSignal);
  return { options, args, returns, abortSignal };
}

/** Whether the option `abortSignal` requests a signal. Throws InvalidArgumentError. */
export function hasSignal(abortSignal: unknown): boolean {
  if (abortSignal === undefined || typeof abortSignal === "boolean") return abortSignal === true;
  throw invalid("abortSignal", "a boolean", describeValue(abortSignal));
}
