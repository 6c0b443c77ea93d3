/** `task` and `importTask`: declarations of tasks. The types of their calls are in `call-types.ts`. */
import { URL as BuiltinURL } from "../../builtins.ts";
import type {
  Fields,
  Infer,
  InferInput,
  InferView,
  Struct,
} from "../../codec/struct/field-types.ts";
import {
  type ArgumentSchema,
  checkDeclaration,
  type ViewArgument,
} from "../../codec/struct/declaration.ts";
import { describeValue } from "../../codec/support/describe.ts";
import { checkKeys, invalid, isRecord, ownOf } from "../options/checks.ts";
import { settingsOf, TASK_OPTIONS, type TaskOptions } from "../options/call-options.ts";
import { InvalidArgumentError } from "../../errors.ts";
import { type CallPlace, callPlaceOf } from "../../realm/call-site.ts";
import { withStackAbove } from "../../realm/caller-stack.ts";
import { noteDeclared } from "../../realm/declared-tasks.ts";
import type { AnySchema, SchemaInput, SchemaOutput } from "./standard-schema.ts";
import { type Check, checkValidation, hostCheck, validated } from "./validation.ts";

/** Any function. Its parameters are checked at each call. */
// deno-lint-ignore no-explicit-any -- the one place where "any function" is meant
export type AnyFunction = (...args: any[]) => unknown;

export const TASK: unique symbol = Symbol.for("heddle.task");

/** The declaration of a task besides its function. */
export interface TaskDeclaration {
  /** Declared shapes of the arguments, by position. */
  readonly args?: readonly ArgumentSchema[] | undefined;
  /** Declared shape of the result. */
  readonly returns?: Struct<Fields> | undefined;
  /** Options of its calls. `with` overrides them. */
  readonly options?: TaskOptions | undefined;
  /** Whether the function gets a signal as its last argument. */
  readonly abortSignal?: boolean | undefined;
}

/**
 * A declared task, as returned by {@link task}. `C` is the function as callers see it: declared shapes may accept more types than the task gets.
 */
export interface Task<F extends AnyFunction = AnyFunction, C extends AnyFunction = F>
  extends TaskDeclaration {
  /** The function that runs in the worker. */
  readonly f: F;
  /**
   * Where the task was declared.
   *
   * @ignore
   */
  readonly [TASK]: TaskPlace & { readonly call?: C };
}

/** What heddle knows of a declaration. */
interface TaskPlace {
  /** The module; undefined if the stack does not show it. A relative one is relative to `base`. */
  readonly location: string | undefined;
  readonly base?: string | undefined;
  /** Module, line and column of the call of `task()`. */
  readonly place?: string | undefined;
  /** If it declares schemas: its function with their checks. `isChecked`: the host has checked the argument. */
  readonly checked?: (task: string, isChecked: boolean) => AnyFunction;
  /** If it declares schemas: what checks the argument on the host, if that is wanted. */
  readonly hostCheck?: (task: string) => Check | undefined;
}

/** A task of a module that only workers load, as returned by {@link importTask}. */
export interface ImportedTask<F extends AnyFunction = AnyFunction> extends TaskDeclaration {
  /** The module: a URL, or a path relative to the module that called `importTask`. */
  readonly href: string;
  /** The name under which the module exports the task. */
  readonly name: string;
  /** Type only. */
  readonly f?: F;
  /**
   * Where the task was declared.
   *
   * @ignore
   */
  readonly [TASK]: TaskPlace;
}

/** The tasks of a pool: exported functions, declared tasks and imported tasks, by name. */
export type TaskMap = Readonly<Record<string, AnyFunction | Task | ImportedTask>>;

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
  [...infer Rest, AbortSignal | undefined] ? Rest
  : P extends [...infer Rest, AbortSignal?] ? Rest
  : P;

/** The return type of a task whose result is declared as `R`. */
export type DeclaredResult<R extends Struct<Fields>> = InferInput<R> | PromiseLike<InferInput<R>>;

/** Where the task is declared: for functions that wrap `task`. See {@link callPlaceOf}. */
export interface PlaceOption {
  /**
   * The call that declares the task.
   *
   * @default the call of `task` or `importTask`
   */
  readonly place?: CallPlace;
}

/** Options of a task without a signal. */
export type PlainTaskOptions = TaskOptions & PlaceOption & { readonly abortSignal?: false };
/** Options of a task that gets a signal. */
export type AbortableTaskOptions = TaskOptions & PlaceOption & {
  readonly abortSignal: true;
};

/** Definition of a task whose arguments are declared. */
export type ArgumentsDefinition<A extends readonly ArgumentSchema[], T> = PlainTaskOptions & {
  readonly args: A;
  readonly f: (...args: ArgumentsTaken<A>) => T;
};
/** Definition of a task whose arguments are declared and which gets a signal. */
export type AbortableArgumentsDefinition<A extends readonly ArgumentSchema[], T> =
  & AbortableTaskOptions
  & {
    readonly args: A;
    readonly f: (...args: ArgumentsWithSignal<A>) => T;
  };
/** The arguments that a task gets if they are declared as `A`, then its signal. */
export type ArgumentsWithSignal<A extends readonly ArgumentSchema[]> = [
  ...ArgumentsTaken<A>,
  AbortSignal,
];
/** Declaration of a result. */
export type ResultDefinition<R extends Struct<Fields>> = { readonly returns: R };

/** Options of a task that declares schemas. */
export interface ValidationOptions {
  /**
   * Where the argument is checked: in the worker, or on the host before the call is sent, so that an invalid one costs
   * no worker's time. The host can do it if it imports the task; otherwise the worker does. Results are checked in the
   * worker.
   *
   * @default "worker"
   */
  readonly validateOn?: "worker" | "host";
}

/** The argument that a task gets if its input is declared as `I`, and its signal if it has one. */
type CheckedArguments<I extends AnySchema, Signal> = Signal extends true
  ? [input: SchemaOutput<I>, signal: AbortSignal]
  : [input: SchemaOutput<I>];

/** What a task returns if its output is declared as `O`. */
type Unchecked<O extends AnySchema> = SchemaInput<O> | PromiseLike<SchemaInput<O>>;
/** What a generator task returns if its output is declared as `O`. */
type UncheckedItems<O extends AnySchema, Return> =
  | Generator<SchemaInput<O>, Return, unknown>
  | AsyncGenerator<SchemaInput<O>, Return, unknown>;
/** What callers get of that. */
type CheckedItems<O extends AnySchema, Return> = AsyncGenerator<SchemaOutput<O>, Return, unknown>;

/** A declared task that gets a signal. */
export type AbortableTask<F extends AnyFunction, C extends AnyFunction> =
  & Task<F, C>
  & { readonly abortSignal: true };

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
    readonly input: I;
    readonly output?: undefined;
    readonly abortSignal?: Signal;
    readonly f: (...args: CheckedArguments<I, Signal>) => R;
  },
): Task<(...args: CheckedArguments<I, Signal>) => R, (input: SchemaInput<I>) => R>;
/** Declares a task of one argument, with schemas that check it and the result. */
export function task<I extends AnySchema, O extends AnySchema, Signal extends boolean = false>(
  definition: TaskOptions & PlaceOption & ValidationOptions & {
    readonly input: I;
    readonly output: O;
    readonly abortSignal?: Signal;
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
    readonly input: I;
    readonly output: O;
    readonly abortSignal?: Signal;
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
    readonly output: O;
    readonly abortSignal?: Signal;
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
    readonly output: O;
    readonly abortSignal?: Signal;
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
): AbortableTask<
  (...args: ArgumentsWithSignal<A>) => DeclaredResult<R>,
  (...args: ArgumentsGiven<A>) => Infer<R>
>;
/** Declares a task whose arguments have declared shapes, and which gets a signal. */
export function task<const A extends readonly ArgumentSchema[], T>(
  definition: AbortableArgumentsDefinition<A, T>,
): AbortableTask<(...args: ArgumentsWithSignal<A>) => T, (...args: ArgumentsGiven<A>) => T>;
/** Declares a task whose result has a declared shape. */
export function task<R extends Struct<Fields>, F extends (...args: never[]) => DeclaredResult<R>>(
  definition: PlainTaskOptions & ResultDefinition<R> & { readonly f: F },
): Task<AnyFunction, (...args: Parameters<F>) => Infer<R>>;
/** Declares a task whose result has a declared shape, and which gets a signal. */
export function task<R extends Struct<Fields>, F extends (...args: never[]) => DeclaredResult<R>>(
  definition: AbortableTaskOptions & ResultDefinition<R> & { readonly f: F },
): AbortableTask<AnyFunction, (...args: WithoutSignal<Parameters<F>>) => Infer<R>>;
/** Declares a task that gets a signal. */
export function task<F extends AnyFunction>(
  definition: AbortableTaskOptions & { readonly f: F },
): AbortableTask<F, (...args: WithoutSignal<Parameters<F>>) => ReturnType<F>>;
/** Declares a task of any arguments. Workers load the module that calls `task`. */
export function task<F extends AnyFunction>(
  definition: PlainTaskOptions & { readonly f: F },
): Task<F>;
export function task(
  definition: TaskOptions & PlaceOption & {
    readonly f: AnyFunction;
    readonly args?: unknown;
    readonly returns?: unknown;
    readonly input?: unknown;
    readonly output?: unknown;
    readonly validateOn?: unknown;
    readonly abortSignal?: unknown;
  },
): Task {
  try {
    if (!isRecord(definition) || typeof definition.f !== "function") {
      throw new InvalidArgumentError("task() needs an object with a function `f`.");
    }
    checkKeys("task()", definition, DEFINITION_KEYS);
    const { f, place, input, output, validateOn, ...declared } = definition;
    const hasShapes = declared.args !== undefined || declared.returns !== undefined;
    const validation = checkValidation({ input, output, validateOn }, hasShapes);
    const caller = place ?? callPlaceOf(task);
    const declaredTask: Task = {
      f,
      ...declarationOf(declared),
      [TASK]: {
        location: caller?.module,
        place: caller?.place,
        ...(validation && {
          checked: (task, isChecked) => validated(task, f, validation, isChecked),
          hostCheck: (task) => hostCheck(task, validation),
        }),
      },
    };
    if (caller?.place !== undefined) noteDeclared(caller.place, declaredTask);
    return declaredTask;
  } catch (error) {
    throw withStackAbove(error, task);
  }
}

const DEFINITION_KEYS: readonly string[] = [
  "f",
  "args",
  "returns",
  "input",
  "output",
  "validateOn",
  "abortSignal",
  "place",
  ...TASK_OPTIONS,
];

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
  throw invalid("abortSignal", "a boolean", describeValue(abortSignal));
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
):
  & ImportedTask<
    (...args: WithoutSignal<Parameters<CalledFunction<T>>>) => ReturnType<CalledFunction<T>>
  >
  & { readonly abortSignal: true };
/** Names a task of a module that the host does not load. The task gets no signal. */
export function importTask<T extends AnyFunction | Task = AnyFunction>(
  source: ImportOptions & { readonly abortSignal?: false },
): ImportedTask<CalledFunction<T>>;
export function importTask(
  source: ImportOptions & { readonly abortSignal?: boolean },
): ImportedTask {
  try {
    const { href, name = "default", place, ...declared } = Object(source) as Partial<typeof source>;
    if (typeof name !== "string" || (typeof href !== "string" && !(href instanceof BuiltinURL))) {
      throw new InvalidArgumentError(
        "importTask() needs `href` (string or URL), and takes `name` (string).",
      );
    }
    const location = String(href);
    return {
      href: location,
      name,
      ...declarationOf(declared),
      [TASK]: { location, base: (place ?? callPlaceOf(importTask))?.module },
    };
  } catch (error) {
    throw withStackAbove(error, importTask);
  }
}
