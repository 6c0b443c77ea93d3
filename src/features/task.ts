/** `task` and `importTask`, with the features of declarations: one line each in the list. */
import type { Fields, Infer, Struct } from "./values/structs/schema/field-types.ts";
import type { ArgumentSchema } from "./values/structs/schema/declaration.ts";
import type { TaskOptions } from "../api/options/call-option-types.ts";
import { declareImported, declareTask } from "../api/tasks/declare.ts";
import type { TaskFeature } from "../api/tasks/feature.ts";
import type { AnySchema, SchemaInput, SchemaOutput } from "./values/structs/standard-schema.ts";
import type {
  AbortableArgumentsDefinition,
  AbortableTaskOptions,
  AnyFunction,
  ArgumentsDefinition,
  ArgumentsGiven,
  ArgumentsTaken,
  ArgumentsWithSignal,
  CheckedArguments,
  CheckedItems,
  DeclaredResult,
  ImportedTask,
  PlaceOption,
  PlainTaskOptions,
  ResultDefinition,
  Task,
  Unchecked,
  UncheckedItems,
  ValidationOptions,
  WithoutSignal,
} from "../api/tasks/task-types.ts";
import { withStackAbove } from "../realm/caller-stack.ts";
import { limits } from "./calls/limits/task.ts";
import { streams } from "./calls/streams/task.ts";
import { structs } from "./values/structs/task.ts";

const taskFeatures: readonly TaskFeature[] = [
  limits,
  streams,
  structs,
];

/**
 * Declares a task. Workers load the module that calls `task` and find the task by the place of this call, or, if that
 * place is not evaluated exactly once, by its export name, which must be its key in the pool.
 *
 * `args` and `returns` may declare shapes ({@link struct}). Such values are sent in a fixed layout, by code compiled
 * for it. A value that does not fit is refused with a StructError.
 *
 * `input` and `output` may declare schemas of Zod, Valibot, ArkType or any other library with the interface of Standard Schema,
 * for a task of one argument. The task gets what `input` makes of the argument, and callers get what `output` makes of the
 * result; a generator's items are checked one by one. An invalid value rejects the call with a ValidationError.
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
  definition: ArgumentsDefinition<A, DeclaredResult<R>> & ResultDefinition<R>,
): Task<
  (...args: ArgumentsTaken<A>) => DeclaredResult<R>,
  (...args: ArgumentsGiven<A>) => Infer<R>
>;
/** Declares a task of one argument, which a schema checks. */
export function task<I extends AnySchema, R, Signal extends boolean = false>(
  definition: TaskOptions & PlaceOption & ValidationOptions & {
    /** A Standard Schema (Zod, Valibot, ArkType etc.) of the only argument. `f` gets what it makes of that. */
    readonly input: I;
    readonly output?: undefined;
    /**
     * Whether `f` gets an AbortSignal as its last argument. The call's `signal` and its time limits abort it.
     *
     * @default false
     */
    readonly abortSignal?: Signal;
    /** The function that runs in the worker. */
    readonly f: (...args: CheckedArguments<I, Signal>) => R;
  },
): Task<(...args: CheckedArguments<I, Signal>) => R, (input: SchemaInput<I>) => R>;
/** Declares a task of one argument, with schemas that check it and the result. */
export function task<I extends AnySchema, O extends AnySchema, Signal extends boolean = false>(
  definition: TaskOptions & PlaceOption & ValidationOptions & {
    /** A Standard Schema (Zod, Valibot, ArkType etc.) of the only argument. `f` gets what it makes of that. */
    readonly input: I;
    /** A Standard Schema of the result, or of each item of a generator. Callers get what it makes of that. */
    readonly output: O;
    /**
     * Whether `f` gets an AbortSignal as its last argument. The call's `signal` and its time limits abort it.
     *
     * @default false
     */
    readonly abortSignal?: Signal;
    /** The function that runs in the worker. */
    readonly f: (...args: CheckedArguments<I, Signal>) => Unchecked<O>;
  },
): Task<
  (...args: CheckedArguments<I, Signal>) => Unchecked<O>,
  (input: SchemaInput<I>) => SchemaOutput<O>
>;
/** Declares a generator task of one argument, with schemas that check it and each item. */
export function task<
  I extends AnySchema,
  O extends AnySchema,
  Return,
  Signal extends boolean = false,
>(
  definition: TaskOptions & PlaceOption & ValidationOptions & {
    /** A Standard Schema (Zod, Valibot, ArkType etc.) of the only argument. `f` gets what it makes of that. */
    readonly input: I;
    /** A Standard Schema of the result, or of each item of a generator. Callers get what it makes of that. */
    readonly output: O;
    /**
     * Whether `f` gets an AbortSignal as its last argument. The call's `signal` and its time limits abort it.
     *
     * @default false
     */
    readonly abortSignal?: Signal;
    /** The function that runs in the worker. */
    readonly f: (...args: CheckedArguments<I, Signal>) => UncheckedItems<O, Return>;
  },
): Task<
  (...args: CheckedArguments<I, Signal>) => UncheckedItems<O, Return>,
  (input: SchemaInput<I>) => CheckedItems<O, Return>
>;
/** Declares a task whose result a schema checks. */
export function task<
  P extends unknown[],
  O extends AnySchema,
  Signal extends boolean = false,
>(
  definition: TaskOptions & PlaceOption & {
    readonly input?: undefined;
    /** A Standard Schema of the result, or of each item of a generator. Callers get what it makes of that. */
    readonly output: O;
    /**
     * Whether `f` gets an AbortSignal as its last argument. The call's `signal` and its time limits abort it.
     *
     * @default false
     */
    readonly abortSignal?: Signal;
    /** The function that runs in the worker. */
    readonly f: (...args: P) => Unchecked<O>;
  },
): Task<
  (...args: P) => Unchecked<O>,
  (...args: Signal extends true ? WithoutSignal<P> : P) => SchemaOutput<O>
>;
/** Declares a generator task each item of which a schema checks. */
export function task<
  P extends unknown[],
  O extends AnySchema,
  Return,
  Signal extends boolean = false,
>(
  definition: TaskOptions & PlaceOption & {
    readonly input?: undefined;
    /** A Standard Schema of the result, or of each item of a generator. Callers get what it makes of that. */
    readonly output: O;
    /**
     * Whether `f` gets an AbortSignal as its last argument. The call's `signal` and its time limits abort it.
     *
     * @default false
     */
    readonly abortSignal?: Signal;
    /** The function that runs in the worker. */
    readonly f: (...args: P) => UncheckedItems<O, Return>;
  },
): Task<
  (...args: P) => UncheckedItems<O, Return>,
  (...args: Signal extends true ? WithoutSignal<P> : P) => CheckedItems<O, Return>
>;
/** Declares a task whose arguments have declared shapes. */
export function task<const A extends readonly ArgumentSchema[], T>(
  definition: ArgumentsDefinition<A, T>,
): Task<(...args: ArgumentsTaken<A>) => T, (...args: ArgumentsGiven<A>) => T>;
/** Declares a task whose arguments and result have declared shapes, and which gets a signal. */
export function task<const A extends readonly ArgumentSchema[], R extends Struct<Fields>>(
  definition: AbortableArgumentsDefinition<A, DeclaredResult<R>> & ResultDefinition<R>,
): Task<
  (...args: ArgumentsWithSignal<A>) => DeclaredResult<R>,
  (...args: ArgumentsGiven<A>) => Infer<R>
>;
/** Declares a task whose arguments have declared shapes, and which gets a signal. */
export function task<const A extends readonly ArgumentSchema[], T>(
  definition: AbortableArgumentsDefinition<A, T>,
): Task<(...args: ArgumentsWithSignal<A>) => T, (...args: ArgumentsGiven<A>) => T>;
/** Declares a task whose result has a declared shape. */
export function task<R extends Struct<Fields>, F extends (...args: never[]) => DeclaredResult<R>>(
  definition: PlainTaskOptions & ResultDefinition<R> & {
    /** The function that runs in the worker. */
    readonly f: F;
  },
): Task<AnyFunction, (...args: Parameters<F>) => Infer<R>>;
/** Declares a task whose result has a declared shape, and which gets a signal. */
export function task<R extends Struct<Fields>, F extends (...args: never[]) => DeclaredResult<R>>(
  definition: AbortableTaskOptions & ResultDefinition<R> & {
    /** The function that runs in the worker. */
    readonly f: F;
  },
): Task<AnyFunction, (...args: WithoutSignal<Parameters<F>>) => Infer<R>>;
/** Declares a task that gets a signal. */
export function task<F extends AnyFunction>(
  definition: AbortableTaskOptions & {
    /** The function that runs in the worker. */
    readonly f: F;
  },
): Task<F, (...args: WithoutSignal<Parameters<F>>) => ReturnType<F>>;
/** Declares a task of any arguments. Workers load the module that calls `task`. */
export function task<F extends AnyFunction>(
  definition: PlainTaskOptions & {
    /** The function that runs in the worker. */
    readonly f: F;
  },
): Task<F>;
export function task(definition: { readonly f: AnyFunction }): Task {
  try {
    return declareTask(taskFeatures, task, definition);
  } catch (error) {
    throw withStackAbove(error, task);
  }
}

/** The argument of {@link importTask}. */
export interface ImportOptions extends TaskOptions, PlaceOption {
  /** The module: a URL, or a path or package name, as the module that calls `importTask` imports it. */
  readonly href: string | URL;
  /**
   * The name under which it exports the task.
   *
   * @default "default"
   */
  readonly name?: string;
  /**
   * The same declarations as in the task itself, because the host does not load its module.
   *
   * @default none
   */
  readonly args?: readonly ArgumentSchema[];
  /**
   * Declared shape of the result, as in the task itself.
   *
   * @default none
   */
  readonly returns?: Struct<Fields>;
}

/** The function as callers see it: that of a declared task, or the function itself. */
export type CalledFunction<T extends AnyFunction | Task> = T extends Task<AnyFunction, infer C> ? C
  : T extends AnyFunction ? T
  : never;

/**
 * Names a task of a module that the host does not load, by its URL, path or package name and an export name. The key in
 * the pool may differ from the export name. `T` is the function or the declared task:
 * `importTask<typeof import("../tasks.ts").f>`.
 */
export function importTask<T extends AnyFunction | Task = AnyFunction>(
  source: ImportOptions & { readonly abortSignal: true },
): ImportedTask<
  (...args: WithoutSignal<Parameters<CalledFunction<T>>>) => ReturnType<CalledFunction<T>>
>;
/** Names a task of a module that the host does not load. The task gets no signal. */
export function importTask<T extends AnyFunction | Task = AnyFunction>(
  source: ImportOptions & { readonly abortSignal?: false },
): ImportedTask<CalledFunction<T>>;
export function importTask(
  source: ImportOptions & { readonly abortSignal?: boolean },
): ImportedTask {
  try {
    return declareImported(taskFeatures, importTask, source);
  } catch (error) {
    throw withStackAbove(error, importTask);
  }
}
