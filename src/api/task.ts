/** `task` and `importTask`, and the types of `pool.call`. */
import type { Fields, Infer, InferInput, InferView, Struct } from "../codec/struct/field-types.ts";
import {
  type ArgumentSchema,
  checkDeclaration,
  type ViewArgument,
} from "../codec/struct/declaration.ts";
import { describeValue } from "../codec/struct/mismatch.ts";
import { checkKeys, invalid, isObject, isRecord, ownOf } from "./checks.ts";
import { type CallOptions, settingsOf, TASK_OPTIONS, type TaskOptions } from "./call-options.ts";
import { InvalidArgumentError } from "../errors.ts";
import type { TaskSignal } from "../worker/abort-signals.ts";
import { callerOf } from "../realm/call-site.ts";

/** Any function. Its parameters are checked at each call. */
// deno-lint-ignore no-explicit-any -- the one place where "any function" is meant
export type AnyFunction = (...args: any[]) => unknown;

export const TASK: unique symbol = Symbol.for("heddle.task");

/** The declaration of a task besides its function. */
interface TaskDeclaration {
  /** Declared shapes of the arguments, by position. */
  readonly args?: readonly ArgumentSchema[] | undefined;
  /** Declared shape of the result. */
  readonly returns?: Struct<Fields> | undefined;
  /** Options of its calls. `with` overrides them. */
  readonly options?: TaskOptions | undefined;
  /** Whether the function gets a signal as its last argument. */
  readonly abortSignal?: AbortSignalOption | undefined;
}

/**
 * A declared task, as returned by {@link task}. Export it under its key in the pool. `C` is the
 * function as callers see it: declared shapes may accept more types than the task gets.
 */
export interface Task<F extends AnyFunction = AnyFunction, C extends AnyFunction = F>
  extends TaskDeclaration {
  /** The function that runs in the worker. */
  readonly f: F;
  /** Path or URL of the module that declares it; undefined if the stack does not show it. */
  readonly [TASK]: { readonly location: string | undefined; readonly call?: C };
}

/** A task of a module that only workers load, as returned by {@link importTask}. */
export interface ImportedTask<F extends AnyFunction = AnyFunction> extends TaskDeclaration {
  readonly href: string;
  readonly name: string;
  /** Type only. */
  readonly f?: F;
  readonly [TASK]: { readonly location: string };
}

/** `true`, or the form that Knitting uses: the task gets a {@link TaskSignal} after its arguments. */
export type AbortSignalOption = boolean | { readonly hasAborted: true };

/** The tasks of a pool: exported functions, declared tasks and imported tasks, by name. */
export type TaskMap = Readonly<Record<string, AnyFunction | Task | ImportedTask>>;

/** The function behind an entry of a {@link TaskMap}. */
export type TaskFunctionOf<T> = T extends AnyFunction ? T
  : T extends Task<AnyFunction, infer C> ? C
  : T extends ImportedTask<infer F> ? F
  : never;

/** Arguments may be promises. The host awaits them before it sends the call. */
export type CallArguments<Parameters extends readonly unknown[]> = {
  [Index in keyof Parameters]: Parameters[Index] | Promise<Parameters[Index]>;
};

/** A function of `pool.call`: takes the parameters of the task, and returns a promise of its result. */
export interface Call<F extends AnyFunction> {
  (...args: CallArguments<Parameters<F>>): Promise<Awaited<ReturnType<F>>>;
  /** The same function with options: `pool.call.f.with({ signal, timeout: 100 })(1)`. */
  with(
    options: CallOptions,
  ): (...args: CallArguments<Parameters<F>>) => Promise<Awaited<ReturnType<F>>>;
}

/** The promise of a call whose task gets a signal. */
export interface AbortablePromise<T> extends Promise<T> {
  /** Rejects the promise with `reason` (default: an AbortError), and aborts the signal of the task. */
  reject(reason?: unknown): void;
}

/** A function of `pool.call` for a task that gets a signal. */
export interface AbortableCall<F extends AnyFunction> {
  (...args: CallArguments<Parameters<F>>): AbortablePromise<Awaited<ReturnType<F>>>;
  with(
    options: CallOptions,
  ): (...args: CallArguments<Parameters<F>>) => AbortablePromise<Awaited<ReturnType<F>>>;
}

/** `pool.call` for a given {@link TaskMap}. */
export type Calls<Tasks extends TaskMap> = {
  readonly [Name in keyof Tasks]: Tasks[Name] extends { readonly abortSignal: true }
    ? AbortableCall<TaskFunctionOf<Tasks[Name]>>
    : Call<TaskFunctionOf<Tasks[Name]>>;
};

/** The arguments that a task gets if they are declared as `A`. */
export type ArgumentsTaken<A extends readonly ArgumentSchema[]> = {
  -readonly [Index in keyof A]: A[Index] extends ViewArgument<infer S> ? InferView<S>
    : A[Index] extends Struct<Fields> ? Infer<A[Index]>
    // deno-lint-ignore no-explicit-any -- undeclared arguments take any value
    : any;
};

/** The arguments that callers may pass if they are declared as `A`. */
export type ArgumentsGiven<A extends readonly ArgumentSchema[]> = {
  -readonly [Index in keyof A]: A[Index] extends ViewArgument<infer S> ? InferInput<S>
    : A[Index] extends Struct<Fields> ? InferInput<A[Index]>
    // deno-lint-ignore no-explicit-any -- as above
    : any;
};

/** Parameters without the signal, which is the last one. */
export type WithoutSignal<P extends readonly unknown[]> = P extends
  [...infer Rest, TaskSignal | undefined] ? Rest
  : P extends [...infer Rest, TaskSignal?] ? Rest
  : P;

/** The return type of a task whose result is declared as `R`. */
type Returned<R extends Struct<Fields>> = InferInput<R> | PromiseLike<InferInput<R>>;

/** Options of a task without a signal, and with one. */
type WithoutAbort = TaskOptions & { readonly abortSignal?: false };
type WithAbort = TaskOptions & { readonly abortSignal: AbortSignalOption };

/** Declarations of arguments, of arguments with a signal, and of a result. */
type Takes<A extends readonly ArgumentSchema[], T> = WithoutAbort & {
  readonly args: A;
  readonly f: (...args: ArgumentsTaken<A>) => T;
};
type TakesWithSignal<A extends readonly ArgumentSchema[], T> = WithAbort & {
  readonly args: A;
  readonly f: (...args: TakenWithSignal<A>) => T;
};
type TakenWithSignal<A extends readonly ArgumentSchema[]> = [...ArgumentsTaken<A>, TaskSignal];
type Returns<R extends Struct<Fields>> = { readonly returns: R };

/** A declared task that gets a signal. */
type AbortableTask<F extends AnyFunction, C extends AnyFunction> =
  & Task<F, C>
  & { readonly abortSignal: true };

/**
 * Declares a task. Export it, under the name it has in the pool, from the module that calls `task`.
 *
 * `args` and `returns` may declare shapes ({@link struct}). Such values are sent in a fixed layout, by code compiled
 * for it. A value that does not fit is refused with a StructError.
 *
 * @example
 * ```ts
 * import { f64, struct, task } from "heddle/task";
 *
 * export const square = task({ f: (n: number) => n * n });
 *
 * const Point = struct({ x: f64, y: f64 });
 * export const mirror = task({ args: [Point], returns: Point, f: ({ x, y }) => ({ x: y, y: x }) });
 * ```
 */
export function task<const A extends readonly ArgumentSchema[], R extends Struct<Fields>>(
  definition: Takes<A, Returned<R>> & Returns<R>,
): Task<(...args: ArgumentsTaken<A>) => Returned<R>, (...args: ArgumentsGiven<A>) => Infer<R>>;
export function task<const A extends readonly ArgumentSchema[], T>(
  definition: Takes<A, T>,
): Task<(...args: ArgumentsTaken<A>) => T, (...args: ArgumentsGiven<A>) => T>;
export function task<const A extends readonly ArgumentSchema[], R extends Struct<Fields>>(
  definition: TakesWithSignal<A, Returned<R>> & Returns<R>,
): AbortableTask<
  (...args: TakenWithSignal<A>) => Returned<R>,
  (...args: ArgumentsGiven<A>) => Infer<R>
>;
export function task<const A extends readonly ArgumentSchema[], T>(
  definition: TakesWithSignal<A, T>,
): AbortableTask<(...args: TakenWithSignal<A>) => T, (...args: ArgumentsGiven<A>) => T>;
export function task<R extends Struct<Fields>, F extends (...args: never[]) => Returned<R>>(
  definition: WithoutAbort & Returns<R> & { readonly f: F },
): Task<AnyFunction, (...args: Parameters<F>) => Infer<R>>;
export function task<R extends Struct<Fields>, F extends (...args: never[]) => Returned<R>>(
  definition: WithAbort & Returns<R> & { readonly f: F },
): AbortableTask<AnyFunction, (...args: WithoutSignal<Parameters<F>>) => Infer<R>>;
export function task<F extends AnyFunction>(
  definition: WithAbort & { readonly f: F },
): AbortableTask<F, (...args: WithoutSignal<Parameters<F>>) => ReturnType<F>>;
export function task<F extends AnyFunction>(definition: WithoutAbort & { readonly f: F }): Task<F>;
export function task(
  definition: TaskOptions & {
    readonly f: AnyFunction;
    readonly args?: unknown;
    readonly returns?: unknown;
    readonly abortSignal?: unknown;
  },
): Task {
  if (!isRecord(definition) || typeof definition.f !== "function") {
    throw new InvalidArgumentError("task() needs an object with a function `f`.");
  }
  checkKeys("task()", definition, ["f", "args", "returns", "abortSignal", ...TASK_OPTIONS]);
  const { f, ...declared } = definition;
  return { f, ...declarationOf(declared), [TASK]: { location: callerOf(task) } };
}

/** Checks the declaration of a task. Throws InvalidArgumentError. */
function declarationOf(given: object): TaskDeclaration {
  const { args, returns, abortSignal, ...options } = ownOf(given) as TaskOptions & TaskDeclaration;
  checkDeclaration(args, returns);
  settingsOf(options);
  hasSignal(abortSignal);
  return { options, args, returns, abortSignal };
}

/** Whether the option `abortSignal` requests a signal. Throws InvalidArgumentError. */
export function hasSignal(abortSignal: unknown): boolean {
  if (abortSignal === undefined || typeof abortSignal === "boolean") return abortSignal === true;
  if (isObject(abortSignal) && "hasAborted" in abortSignal && abortSignal.hasAborted === true) {
    return true;
  }
  throw invalid("abortSignal", "a boolean or { hasAborted: true }", describeValue(abortSignal));
}

/** The argument of {@link importTask}. */
export interface TaskSource extends TaskOptions {
  /** The module: a URL, or a path relative to the working directory. */
  readonly href: string | URL;
  /** The name under which it exports the task. */
  readonly name: string;
  /** The same declarations as in the task itself, because the host does not load its module. */
  readonly args?: readonly ArgumentSchema[];
  readonly returns?: Struct<Fields>;
}

/** The function as callers see it: that of a declared task, or the function itself. */
export type CalledFunction<T extends AnyFunction | Task> = T extends Task<AnyFunction, infer C> ? C
  : T extends AnyFunction ? T
  : never;

/**
 * Names a task of a module that the host does not load, by a path or URL and an export name. The key in
 * the pool may differ from the export name. `T` is the function or the declared task:
 * `importTask<typeof import("../tasks.ts").f>`.
 */
export function importTask<T extends AnyFunction | Task = AnyFunction>(
  source: TaskSource & { readonly abortSignal: AbortSignalOption },
):
  & ImportedTask<
    (...args: WithoutSignal<Parameters<CalledFunction<T>>>) => ReturnType<CalledFunction<T>>
  >
  & { readonly abortSignal: true };
export function importTask<T extends AnyFunction | Task = AnyFunction>(
  source: TaskSource & { readonly abortSignal?: false },
): ImportedTask<CalledFunction<T>>;
export function importTask(
  source: TaskSource & { readonly abortSignal?: AbortSignalOption },
): ImportedTask {
  const { href, name, ...declared } = source;
  if (typeof name !== "string" || (typeof href !== "string" && !(href instanceof URL))) {
    throw new InvalidArgumentError(
      "importTask() needs `href` (string or URL) and `name` (string).",
    );
  }
  const location = String(href);
  return { href: location, name, ...declarationOf(declared), [TASK]: { location } };
}
