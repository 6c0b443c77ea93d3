/** The types of `task`: what it declares, and what its function and its callers get. No code but the mark. */
import type {
  Fields,
  Infer,
  InferInput,
  InferView,
  Struct,
} from "../../features/values/structs/schema/field-types.ts";
import type {
  ArgumentSchema,
  ViewArgument,
} from "../../features/values/structs/schema/declaration.ts";
import type { Signature } from "../../codec/declared.ts";
import type { CallPlace } from "../../realm/call-site.ts";
import type { TaskOptions } from "../options/call-options.ts";
import type {
  AnySchema,
  SchemaInput,
  SchemaOutput,
} from "../../features/values/structs/standard-schema.ts";
import type { Check } from "../../features/values/structs/validation.ts";

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
interface TaskPlace extends Declared {
  /** The module; undefined if the stack does not show it. A relative one is relative to `base`. */
  readonly location: string | undefined;
  readonly base?: string | undefined;
  /** Module, line and column of the call of `task()`. */
  readonly place?: string | undefined;
}

/** What features know of a declaration. */
export interface Declared {
  /** If it declares schemas: its function with their checks. `isChecked`: the host has checked the argument. */
  readonly checked?: (task: string, isChecked: boolean) => AnyFunction;
  /** If it declares schemas: what checks the argument on the host, if that is wanted. */
  readonly hostCheck?: (task: string) => Check | undefined;
  /** If it declares shapes: how encoder and decoder use them. */
  readonly signature?: () => DeclaredSignature;
}

/** Declared shapes as encoder and decoder use them, and a description, which must be equal on both sides. */
export interface DeclaredSignature {
  readonly signature: Signature;
  readonly words: string;
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
export type PlainTaskOptions = TaskOptions & PlaceOption & {
  /**
   * Whether `f` gets an AbortSignal as its last argument. The call's `signal` and its time limits abort it.
   *
   * @default false
   */
  readonly abortSignal?: false;
};
/** Options of a task that gets a signal. */
export type AbortableTaskOptions = TaskOptions & PlaceOption & {
  /**
   * Whether `f` gets an AbortSignal as its last argument. The call's `signal` and its time limits abort it.
   *
   * @default false
   */
  readonly abortSignal: true;
};

/** Definition of a task whose arguments are declared. */
export type ArgumentsDefinition<A extends readonly ArgumentSchema[], T> = PlainTaskOptions & {
  /** Shapes of the arguments, by position: a struct(), a view(), or undefined for any value. */
  readonly args: A;
  /** The function that runs in the worker. */
  readonly f: (...args: ArgumentsTaken<A>) => T;
};
/** Definition of a task whose arguments are declared and which gets a signal. */
export type AbortableArgumentsDefinition<A extends readonly ArgumentSchema[], T> =
  & AbortableTaskOptions
  & {
    /** Shapes of the arguments, by position: a struct(), a view(), or undefined for any value. */
    readonly args: A;
    /** The function that runs in the worker. */
    readonly f: (...args: ArgumentsWithSignal<A>) => T;
  };
/** The arguments that a task gets if they are declared as `A`, then its signal. */
export type ArgumentsWithSignal<A extends readonly ArgumentSchema[]> = [
  ...ArgumentsTaken<A>,
  AbortSignal,
];
/** Declaration of a result. */
export type ResultDefinition<R extends Struct<Fields>> = {
  /** Shape of the result: a struct(). */
  readonly returns: R;
};

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
export type CheckedArguments<I extends AnySchema, Signal> = Signal extends true
  ? [input: SchemaOutput<I>, signal: AbortSignal]
  : [input: SchemaOutput<I>];

/** What a task returns if its output is declared as `O`. */
export type Unchecked<O extends AnySchema> = SchemaInput<O> | PromiseLike<SchemaInput<O>>;
/** What a generator task returns if its output is declared as `O`. */
export type UncheckedItems<O extends AnySchema, Return> =
  | Generator<SchemaInput<O>, Return, unknown>
  | AsyncGenerator<SchemaInput<O>, Return, unknown>;
/** What callers get of that. */
export type CheckedItems<O extends AnySchema, Return> = AsyncGenerator<
  SchemaOutput<O>,
  Return,
  unknown
>;
