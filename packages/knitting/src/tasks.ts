/** `task` and `importTask` in Knitting's form. Both make tasks of heddle, at the place where they are called. */
import { type CallPlace, importTask as heddleImportTask, task as heddleTask } from "heddle";
import { placeOf } from "./place.ts";
import { createPoolAt } from "./pool.ts";
import { limitMsOf, noteTimeout } from "./timeouts.ts";
import type {
  AbortSignalOption,
  AbortToolkit,
  AnyFunction,
  CreatePool,
  InputOf,
  OutputOf,
  Task,
  TaskSettings,
} from "./types.ts";

/** Settings of a task without an abort toolkit. */
export type PlainSettings = TaskSettings & { readonly abortSignal?: undefined };
/** Settings of a task that gets an {@link AbortToolkit}. */
export type AbortableSettings = TaskSettings & { readonly abortSignal: AbortSignalOption };

/** Settings as heddle takes them. */
function settingsOf(
  { timeout, abortSignal }: PlainSettings | AbortableSettings,
  place: CallPlace | undefined,
): object {
  const runTimeoutMs = limitMsOf(timeout);
  return {
    abortSignal: abortSignal !== undefined,
    ...(place !== undefined && { place }),
    ...(runTimeoutMs !== undefined && { runTimeoutMs }),
  };
}

/** A task of heddle with what a task of Knitting has. */
function complete(
  declared: object,
  place: CallPlace | undefined,
  { timeout }: PlainSettings | AbortableSettings,
): object {
  noteTimeout(declared, timeout);
  return Object.assign(declared, {
    importedFrom: place?.module,
    createPool: (options: CreatePool = {}) => {
      const pool = createPoolAt(options, place, { task: declared });
      return { ...pool, call: pool.call["task"] };
    },
  });
}

/**
 * Declares a task of one argument. It is found by the place of this call, so it need not be exported.
 *
 * @example
 * ```ts
 * import { isMain, task } from "@heddle/knitting";
 *
 * export const double = task<number, number>({ f: (value) => value * 2 }).createPool({ threads: 2 });
 * if (isMain) console.log(await double.call(21));
 * ```
 */
// deno-lint-ignore no-explicit-any -- any argument
export function task<F extends (value: any) => unknown>(
  definition: PlainSettings & { readonly f: F },
): Task<InputOf<F>, OutputOf<F>, false>;
/** Declares a task of one argument that gets an {@link AbortToolkit}. */
// deno-lint-ignore no-explicit-any -- any argument
export function task<F extends (value: any, signal: AbortToolkit) => unknown>(
  definition: AbortableSettings & { readonly f: F },
): Task<InputOf<F>, OutputOf<F>, true>;
/** Declares a task of one argument, with its types given. */
// deno-lint-ignore no-explicit-any -- any values
export function task<A = any, B = any>(
  definition: PlainSettings & { readonly f: (value: Awaited<A>) => B | PromiseLike<B> },
): Task<A, B, false>;
/** Declares a task of one argument that gets an {@link AbortToolkit}, with its types given. */
// deno-lint-ignore no-explicit-any -- any values
export function task<A = any, B = any, _S extends AbortSignalOption = true>(
  definition: AbortableSettings & {
    readonly f: (value: Awaited<A>, signal: AbortToolkit) => B | PromiseLike<B>;
  },
): Task<A, B, true>;
export function task(
  definition: (PlainSettings | AbortableSettings) & { readonly f: AnyFunction },
): unknown {
  const place = placeOf(task as AnyFunction);
  const { f } = definition;
  return complete(heddleTask({ f, ...settingsOf(definition, place) }), place, definition);
}

/** The argument of {@link importTask}. */
export interface ImportTaskOptions {
  /** The module: a URL, or a path relative to the module that calls `importTask`. */
  readonly href: string;
  /** Its export. Default "default". */
  readonly name?: string;
}

/** Names a function of a module that only workers load. It never runs on the host. */
export function importTask<A = void, B = void>(
  options: ImportTaskOptions & PlainSettings,
): Task<A, B, false>;
/** Names a function of a module that only workers load and that gets an {@link AbortToolkit}. */
export function importTask<A = void, B = void, _S extends AbortSignalOption = true>(
  options: ImportTaskOptions & AbortableSettings,
): Task<A, B, true>;
export function importTask(
  options: ImportTaskOptions & (PlainSettings | AbortableSettings),
): unknown {
  const place = placeOf(importTask as AnyFunction);
  const { href, name = "default" } = options;
  return complete(heddleImportTask({ href, name, ...settingsOf(options, place) }), place, options);
}
