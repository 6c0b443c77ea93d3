/** The types of `pool.call` and `pool.broadcast`, derived from those of the tasks. Types only. */
import type { Borrowed } from "../../features/values/rare/kinds/borrow.ts";
import type { ResultStream } from "../../features/calls/streams/host/result-stream.ts";
import type { HANDLE } from "../../realm/handles.ts";
import type { AnyRemote } from "../../features/calls/objects/object-types.ts";
import type { AnyCallbackType } from "../../features/calls/requests/callback-of-host.ts";
import type { BroadcastOptions, CallOptions } from "../options/call-option-types.ts";
import type { AnyFunction, ImportedTask, Task, TaskMap } from "../tasks/task-types.ts";

/** The function of a task as callers see it. */
export type TaskFunction<T> = unknown extends T ? AnyFunction
  : T extends AnyFunction ? T
  : T extends Task<AnyFunction, infer C> ? C
  : T extends ImportedTask<infer F> ? F
  : never;

/**
 * A function of `pool.call`: takes the parameters of the function `F`, and returns a promise of its result, or a stream if it is
 * a generator.
 *
 * Overloads are kept, up to six. The signature of a generic function is kept if it returns a promise and its parameters
 * can be sent; TypeScript cannot express the others, so their type parameters become their constraints, or `unknown`.
 */
export type Call<F extends AnyFunction> = CallerSignature<F, "call"> & {
  /**
   * Returns the same function with these options, which win over those of an earlier `with` and of the task. Signals add up:
   * each of them aborts the calls.
   */
  with<Value>(
    options: CallOptions & { readonly timeoutValue: Value },
  ): CallWithFallback<F, Value>;
  /** Returns the same function with these options. */
  with(options: CallOptions): Call<F>;
};

/** A function of `pool.call` with the option `timeoutValue`: a `Value` may come in place of the result. */
export type CallWithFallback<F extends AnyFunction, Value> = CallerSignature<F, "call", Value> & {
  /** Returns the same function with these options. */
  with<Other>(
    options: CallOptions & { readonly timeoutValue: Other },
  ): CallWithFallback<F, Other>;
  /** Returns the same function with these options. */
  with(options: CallOptions): CallWithFallback<F, Value>;
};

/**
 * A function of `pool.broadcast`: calls the task in every worker, and returns a promise of all results. Results of generic
 * functions are unknown.
 */
export type BroadcastCall<F extends AnyFunction> = CallerSignature<F, "broadcast"> & {
  /** Returns the same function with these options, which win over those of an earlier `with` and of the task. */
  with(options: BroadcastOptions): BroadcastCall<F>;
};

/**
 * A function of `pool.sync`: takes the parameters of the function `F`, blocks this thread, and returns the result. Type parameters
 * of generic functions become their constraints, or `unknown`.
 */
export type SyncCall<F extends AnyFunction> = CallerSignature<F, "sync"> & {
  /** Returns the same function with these options, which win over those of an earlier `with` and of the task. */
  with<Value>(
    options: CallOptions & { readonly timeoutValue: Value },
  ): SyncCallWithFallback<F, Value>;
  /** Returns the same function with these options. */
  with(options: CallOptions): SyncCall<F>;
};

/** A function of `pool.sync` with the option `timeoutValue`: a `Value` may come in place of the result. */
export type SyncCallWithFallback<F extends AnyFunction, Value> =
  & CallerSignature<F, "sync", Value>
  & {
    /** Returns the same function with these options. */
    with<Other>(
      options: CallOptions & { readonly timeoutValue: Other },
    ): SyncCallWithFallback<F, Other>;
    /** Returns the same function with these options. */
    with(options: CallOptions): SyncCallWithFallback<F, Value>;
  };

/** What can be called of `Tasks`. A module, which exports other things as well, offers no imported tasks. */
export type Callable<Tasks> = AnyFunction | Task | (Tasks extends TaskMap ? ImportedTask : never);

/** `pool.call` for the tasks of a map, or for the functions and declared tasks that a module exports, `default` included. */
export type Calls<Tasks> = {
  readonly [Name in keyof Tasks as Tasks[Name] extends Callable<Tasks> ? Name : never]: Call<
    TaskFunction<Tasks[Name]>
  >;
};

/** `pool.broadcast` for the same. */
export type BroadcastCalls<Tasks> = {
  readonly [Name in keyof Tasks as Tasks[Name] extends Callable<Tasks> ? Name : never]:
    BroadcastCall<TaskFunction<Tasks[Name]>>;
};

/** `pool.sync` for the same, without generators. */
export type SyncCalls<Tasks> = {
  readonly [
    Name in keyof Tasks as Tasks[Name] extends Callable<Tasks>
      ? IsGenerator<TaskFunction<Tasks[Name]>> extends true ? never : Name
      : never
  ]: SyncCall<TaskFunction<Tasks[Name]>>;
};

export type IsGenerator<F extends AnyFunction> = unknown extends ReturnType<F> ? false
  : [ReturnType<F>] extends [never] ? false
  : [ReturnType<F>] extends [AnyGenerator] ? true
  : false;

// deno-lint-ignore no-explicit-any -- what a generator is sent is of no interest
type AnyGenerator = Generator<unknown, unknown, any> | AsyncGenerator<unknown, unknown, any>;

/** What callers get for a result of type `T`: streams for what a worker sends as one. */
type Received<T> = unknown extends T ? T
  : T extends ResultStream<unknown, unknown> | { readonly [HANDLE]: unknown } ? T
  : T extends Generator<infer Item, infer Return>
    ? ResultStream<Copied<Awaited<Item>>, Copied<Awaited<Return>>>
  : T extends AsyncGenerator<infer Item, infer Return> ? ResultStream<Copied<Item>, Copied<Return>>
  : T extends { getReader(): unknown; cancel(): Promise<void> } ? T // a ReadableStream
  : T extends AsyncIterable<infer Item> ? ResultStream<Copied<Item>, unknown>
  : Copied<T>;

/** `T` if values of this type arrive as they are. Otherwise `T` without methods, which copies do not have. */
type Copied<T> = [T] extends [Cloned<T>] ? T : WithoutMethods<T>;

/** The parts of `T` as `Cloned` takes them. */
type WithoutMethods<T> = unknown extends T ? T
  : T extends Primitive | CloneableObject | TransferableObject ? T
  : T extends AsyncIterable<unknown> | Generator ? T
  : T extends FunctionOrClass ? Uncloneable<"a function">
  : T extends readonly (infer Element)[]
    ? number extends T["length"] ? CopiedArray<Element> : CopiedTuple<T>
  : T extends ReadonlyMap<infer Key, infer Value> & NotSearchParams ? CopiedMap<Key, Value>
  : T extends ReadonlySet<infer Value> ? CopiedSet<Value>
  : {
    [Key in keyof T as Key extends symbol ? Key : IsMethod<T[Key]> extends true ? never : Key]:
      Key extends symbol ? T[Key] : Copied<T[Key]>;
  };

type IsMethod<Value> = [NonNullable<Value>] extends [never] ? false
  : [NonNullable<Value>] extends [FunctionOrClass] ? true
  : false;

interface CopiedArray<Element> extends Array<Copied<Element>> {}
interface CopiedMap<Key, Value> extends Map<Copied<Key>, Copied<Value>> {}
interface CopiedSet<Value> extends Set<Copied<Value>> {}
type CopiedTuple<T extends readonly unknown[]> = { [Index in keyof T]: Copied<T[Index]> };

/** A generator function returns its stream at once, any other a promise. */
type StreamOr<R, Otherwise> = unknown extends R ? Otherwise
  : [R] extends [never] ? Otherwise
  : [R] extends [AnyGenerator] ? Received<R>
  : Otherwise;

/** What a function returns to callers if the task returns `R`. */
interface Returned<R, Fallback = never> {
  readonly call: StreamOr<R, Promise<Received<Awaited<R>> | Fallback>>;
  readonly broadcast: Promise<Received<Awaited<R>>[]>;
  readonly sync: Received<Awaited<R>> | Fallback;
  readonly task: R;
}

/** The signature of `F` for callers. */
export type CallerSignature<F extends AnyFunction, Kind extends Returns, Fallback = never> =
  IsSimple<F> extends true ? SignatureOf<LastOverload<F>, Kind, Fallback>
    : [Kind, Fallback, CanKeepSignature<F>] extends ["call", never, true] ? F
    : AllSignatures<Overloads<F>, Kind, Fallback>;

type Returns = keyof Returned<unknown>;

type SignatureOf<O extends Overload, Kind extends Returns, Fallback> = (
  ...args: Kind extends "sync" ? SyncArguments<O[0]> : CallArguments<O[0]>
) => Returned<O[1], Fallback>[Kind];

/**
 * Whether `F` is neither generic nor overloaded. The comparison with `F` finds both, except overloads that are all
 * generic, which TypeScript compares without their type parameters.
 */
type IsSimple<F extends AnyFunction> = [
  (...args: Parameters<F>) => ReturnType<F>,
  Overloads<F>[0],
  LastOverload<F>,
] extends [F, LastOverload<F>, Overloads<F>[0]] ? true : false;

/**
 * Whether callers can use the signature of `F` itself, which no conditional type can change without losing its type
 * parameters.
 */
type CanKeepSignature<F extends AnyFunction> = AllSignatures<Overloads<F>, "task"> extends F ? false
  : [keyof F, Overloads<F>[number]] extends [never, AsyncOverload] ? HasCloneableArguments<F>
  : false;

type AsyncOverload = [unknown[], Promise<unknown>];

type HasCloneableArguments<F extends AnyFunction> = [Overloads<F>[number][0]] extends
  [CallArguments<Overloads<F>[number][0]>] ? true : false;

/** Parameters and return type of one signature. */
type Overload = readonly [parameters: readonly unknown[], result: unknown];

type LastOverload<F extends AnyFunction> = [Parameters<F>, ReturnType<F>];

/** The last six signatures of `F`. The first one is repeated if there are fewer. */
type Overloads<F extends AnyFunction> = F extends {
  (...args: infer A1): infer R1;
  (...args: infer A2): infer R2;
  (...args: infer A3): infer R3;
  (...args: infer A4): infer R4;
  (...args: infer A5): infer R5;
  (...args: infer A6): infer R6;
} ? [[A1, R1], [A2, R2], [A3, R3], [A4, R4], [A5, R5], [A6, R6]]
  : [LastOverload<F>];

/** A function with all these signatures. TypeScript drops repeated ones. */
type AllSignatures<List extends readonly Overload[], Kind extends Returns, Fallback = never> =
  List extends readonly [infer First extends Overload, ...infer Rest extends readonly Overload[]]
    ? SignatureOf<First, Kind, Fallback> & AllSignatures<Rest, Kind, Fallback>
    : unknown;

/** Arguments may be promises. The host awaits them before it sends the call. */
export type CallArguments<Parameters extends readonly unknown[]> = {
  [Index in keyof Parameters]:
    | Cloneable<Awaited<Parameters[Index]>>
    | Promise<Cloneable<Awaited<Parameters[Index]>>>;
};

/** Arguments of calls that cannot await them. */
type SyncArguments<Parameters extends readonly unknown[]> = {
  [Index in keyof Parameters]: Cloneable<Awaited<Parameters[Index]>>;
};

/**
 * `T` if values of this type can be sent. Otherwise `T` with {@link Uncloneable} in the place of functions and methods:
 * optional ones may be left out.
 */
export type Cloneable<T> = [T] extends [Cloned<T>] ? T : Cloned<T>;

declare const REASON: unique symbol;

/** A type that no value has: stands for a part of an argument that cannot be sent to a worker. */
export interface Uncloneable<Reason extends string> {
  /**
   * Type only.
   *
   * @ignore
   */
  readonly [REASON]: Reason;
}

/**
 * `T` with every function replaced. Properties whose keys are symbols are left alone: `Iterable` takes arrays. Only
 * members of object types refer to `Cloned` again, since TypeScript resolves those later: `T` may contain itself.
 *
 * @ignore
 */
type Cloned<T> = unknown extends T ? T
  : T extends Primitive | CloneableObject | TransferableObject ? T
  : T extends AsyncIterable<unknown> | Generator ? T // sent as a stream
  : T extends FunctionOrClass ? Uncloneable<"a function">
  : T extends readonly (infer Element)[]
    ? number extends T["length"] ? ClonedArray<Element> : ClonedTuple<T>
  : T extends ReadonlyMap<infer Key, infer Value> & NotSearchParams ? ClonedMap<Key, Value>
  : T extends ReadonlySet<infer Value> ? ClonedSet<Value>
  : { [Key in keyof T]: Key extends symbol ? T[Key] : Cloned<T[Key]> };

interface ClonedArray<Element> extends ReadonlyArray<Cloned<Element>> {}
interface ClonedMap<Key, Value> extends ReadonlyMap<Cloned<Key>, Cloned<Value>> {}
interface ClonedSet<Value> extends ReadonlySet<Cloned<Value>> {}
type ClonedTuple<T extends readonly unknown[]> = {
  [Key in keyof T as Key extends "length" ? Key : Exclude<Key, keyof unknown[]>]: Cloned<T[Key]>;
};

/** URLSearchParams, which cannot be cloned, has all members of a Map. */
type NotSearchParams = { append?: never };

type Primitive = string | number | bigint | boolean | symbol | null | undefined | void;

type FunctionOrClass =
  | ((...args: never[]) => unknown)
  | (abstract new (...args: never[]) => unknown);

/** Objects with methods that can be sent. Those that not every runtime's types declare are described by their members. */
type CloneableObject =
  | Date
  | RegExp
  | Error
  | ArrayBuffer
  | SharedArrayBuffer
  | ArrayBufferView
  | Borrowed
  | AnyCallbackType
  | AnyRemote
  | { readonly [HANDLE]: unknown } // of heddle/shared
  | { readonly size: number; readonly type: string; arrayBuffer(): Promise<ArrayBuffer> } // Blob, File
  | { readonly type: string; export(): unknown; equals(other: never): boolean }; // KeyObject

/** Objects with methods that can be transferred: MessagePort, streams, and FileHandle of Node. */
type TransferableObject =
  | { postMessage(message: never): void; start(): void; close(): void }
  | { readonly locked: boolean; getReader(): unknown; cancel(): Promise<void> }
  | { readonly locked: boolean; getWriter(): unknown; abort(): Promise<void> }
  | { readonly fd: number; close(): Promise<void>; stat(): Promise<unknown> };
