/** Checks of what callers give: options, limits of waits, functions. A call without options is not checked. */
import { InvalidArgumentError } from "../errors.ts";
import {
  checkBoolean,
  checkKeys,
  checkMs,
  checkSignal,
  invalid,
  isRecord,
  show,
} from "../option-checks.ts";
import { ObjectMemory } from "./memory.ts";
import type { WaitOptions } from "./threads/condition.ts";

/** The default of all options. It inherits nothing, as a program may extend `Object.prototype`. */
export const NO_OPTIONS: Readonly<Record<never, never>> = Object.freeze(
  Object.create(null) as object,
);

/** Options of waits. Those of blocking forms have no signal, which their thread could not hear. */
export const WAIT: readonly string[] = ["timeoutMs", "signal"];
export const BLOCK: readonly string[] = ["timeoutMs"];

/** Throws InvalidArgumentError for options of `owner` that are no object, or are none of `known`. */
export function checkOptions(owner: string, options: unknown, known: readonly string[]): void {
  if (options === NO_OPTIONS) return;
  if (!isRecord(options)) {
    throw new InvalidArgumentError(`${owner} takes an object of options, got ${show(options)}.`);
  }
  checkKeys(owner, options, known);
}

/** The same of the options of a wait, and of their values. */
export function checkWait(
  method: string,
  options: WaitOptions & { readonly recover?: boolean },
  known: readonly string[],
): void {
  if (options === NO_OPTIONS) return;
  checkOptions(`${method}()`, options, known);
  const { timeoutMs, signal, recover } = options;
  if (timeoutMs !== undefined) checkMs("timeoutMs", timeoutMs, 0);
  if (signal !== undefined && signal !== null) checkSignal(signal);
  if (recover !== undefined) checkBoolean("recover", recover);
}

/** Throws InvalidArgumentError for what is no function. */
export function checkFunction(name: string, f: unknown): void {
  if (typeof f !== "function") throw invalid(name, "a function", show(f));
}

/** What the constructor of an object without options was given: memory, by heddle itself, or nothing. */
export function memoryOrNew(
  name: string,
  given: ObjectMemory | undefined,
  create: () => ObjectMemory,
): ObjectMemory {
  if (given === undefined) return create();
  if (given instanceof ObjectMemory) return given;
  throw new InvalidArgumentError(`new ${name}() takes no arguments, got ${show(given)}.`);
}
