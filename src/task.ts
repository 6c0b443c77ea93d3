/**
 * Declares what a pool can call, and the types of the call surface.
 */
import { InvalidArgumentError } from "./errors.ts";
import { callerOf } from "./realm/call-site.ts";

/** Any function; parameters are checked where it is called. */
// deno-lint-ignore no-explicit-any -- the one place where "any function" is meant
export type AnyFunction = (...args: any[]) => unknown;

const TASK: unique symbol = Symbol.for("heddle.task");

/** A declared task, as returned by {@link task}. Export it under its key in the pool. */
export interface Task<F extends AnyFunction = AnyFunction> {
  /** The function that runs in the worker. */
  readonly f: F;
  /** Where it was declared: path or URL of the module, or undefined if the stack did not tell. */
  readonly [TASK]: { readonly location: string | undefined };
}

/** A task of a module that only workers load, as returned by {@link importTask}. */
export interface ImportedTask<F extends AnyFunction = AnyFunction> {
  readonly href: string;
  readonly name: string;
  /** Type only. */
  readonly f?: F;
  readonly [TASK]: { readonly location: string };
}

/** What `createPool` takes: exported functions, declared tasks and imported tasks by name. */
export type TaskMap = Readonly<Record<string, AnyFunction | Task | ImportedTask>>;

/** The function behind an entry of a {@link TaskMap}. */
export type TaskFunctionOf<T> = T extends AnyFunction ? T
  : T extends Task<infer F> ? F
  : T extends ImportedTask<infer F> ? F
  : never;

/** Arguments may be given as promises; they are awaited on the host before the call is sent. */
export type CallArguments<Parameters extends readonly unknown[]> = {
  [Index in keyof Parameters]: Parameters[Index] | Promise<Parameters[Index]>;
};

/** A function of the pool: the task's own parameters, and a promise of its result. */
export type Call<F extends AnyFunction> = (
  ...args: CallArguments<Parameters<F>>
) => Promise<Awaited<ReturnType<F>>>;

/** `pool.call` for a given {@link TaskMap}. */
export type Calls<Tasks extends TaskMap> = {
  readonly [Name in keyof Tasks]: Call<TaskFunctionOf<Tasks[Name]>>;
};

/**
 * Declares a task. Export it, under the name it has in the pool, from the module that calls `task`.
 *
 * @example
 * ```ts
 * import { task } from "heddle";
 *
 * export const square = task({ f: (n: number) => n * n });
 * ```
 */
export function task<F extends AnyFunction>(definition: { readonly f: F }): Task<F> {
  if (typeof definition !== "object" || definition === null || typeof definition.f !== "function") {
    throw new InvalidArgumentError("task() needs an object with a function `f`.");
  }
  for (const key of Object.keys(definition)) {
    if (key !== "f") throw new InvalidArgumentError(`task() has no option "${key}"; it takes: f.`);
  }
  return { f: definition.f, [TASK]: { location: callerOf(task) } };
}

/**
 * Names a task of a module that the host does not load: a path or URL and an export name. The key in
 * the pool is free to differ from the export name.
 */
export function importTask<F extends AnyFunction = AnyFunction>(
  source: { readonly href: string | URL; readonly name: string },
): ImportedTask<F> {
  const { href, name } = source;
  if (typeof name !== "string" || (typeof href !== "string" && !(href instanceof URL))) {
    throw new InvalidArgumentError(
      "importTask() needs `href` (string or URL) and `name` (string).",
    );
  }
  return { href: String(href), name, [TASK]: { location: String(href) } };
}

/** What the pool needs to know of one entry: where it is and under which export name. */
export interface TaskLocation {
  readonly location: string | undefined;
  readonly exportName: string;
}

/** Locates the entry `key` of a task map; bare functions are looked for in `callerLocation`. */
export function locateTask(
  key: string,
  entry: unknown,
  callerLocation: string | undefined,
): TaskLocation {
  if (typeof entry === "function") {
    if (entry.name !== key) {
      throw new InvalidArgumentError(
        `Task "${key}" is a function named "${entry.name}": a bare function must be exported under ` +
          "the name it has in the pool. importTask({ href, name }) gives a task another name.",
      );
    }
    return { location: callerLocation, exportName: key };
  }
  if (typeof entry === "object" && entry !== null && TASK in entry) {
    const { location } = (entry as Task | ImportedTask)[TASK];
    return { location, exportName: "href" in entry ? (entry as ImportedTask).name : key };
  }
  throw new InvalidArgumentError(
    `Task "${key}" must be an exported function, a task() or an importTask(), got ${
      entry === null ? "null" : typeof entry
    }.`,
  );
}
