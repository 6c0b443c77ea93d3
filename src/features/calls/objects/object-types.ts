/** The types of `pool.spawn`. Types only. */
import type { AnyFunction } from "../../../api/tasks/task-types.ts";
import type { Call, CallArguments, IsGenerator } from "../../../api/calls/call-types.ts";

/** How an object is made again when its worker dies. */
export interface RestartOptions {
  /**
   * How often within `withinMs`; then it stays lost.
   *
   * @default 5
   */
  readonly max?: number;
  /**
   * In milliseconds.
   *
   * @default 10_000
   */
  readonly withinMs?: number;
}

/** Options of objects: `pool.spawn.with({ placement: "pack" })`. */
export interface SpawnOptions {
  /**
   * Which worker gets the object: "spread", that with the fewest objects; "pack", that with the most; or that of another object.
   *
   * @default "spread"
   */
  readonly placement?: "spread" | "pack" | Spawned<object>;
  /**
   * Whether the object is made again, with the same arguments, when its worker dies. Calls that were in flight reject with
   * ObjectLostError; later ones wait for the new object. `true`: 5 times within 10 seconds.
   *
   * @default false
   */
  readonly restart?: boolean | RestartOptions;
}

declare const REMOTE: unique symbol;

/**
 * Marks handles: they may be arguments for parameters of the type `Remote`.
 *
 * @ignore
 */
export interface AnyRemote {
  /**
   * Type only.
   *
   * @ignore
   */
  readonly [REMOTE]: true;
}

/** A handle as a task or a method gets it that has a parameter of this type: the methods of the object as async functions. */
export type Remote<Instance extends object> =
  & AnyRemote
  & {
    /** The value of a public property. */
    $get<Name extends keyof Instance & string>(name: Name): Promise<Instance[Name]>;
  }
  & {
    readonly [
      Name in Exclude<keyof Instance, symbol | Unnamed<Instance>> as Instance[Name] extends
        AnyFunction ? IsGenerator<Instance[Name]> extends true ? never : Name
        : never
    ]: Instance[Name] extends (...args: infer Args) => infer Result
      ? (...args: Args) => Promise<Awaited<Result>>
      : never;
  };

/** What a handle of an object has beside its methods. */
export interface OfHandle<Instance extends object> extends AsyncDisposable, AnyRemote {
  /** The value of a public property, as it is when the call arrives: `await engine.$get("path")`. */
  $get<Name extends keyof Instance & string>(name: Name): Promise<Instance[Name]>;
  /**
   * Ends the object: its calls end first, then its `[Symbol.asyncDispose]()` or `[Symbol.dispose]()` runs in the worker. Rejects with
   * what that throws. Further calls reject with ObjectLostError. `await using` does the same.
   */
  $release(): Promise<void>;
  /** How often the object was made: 1, unless `restart` has made it again. */
  readonly $generation: number;
}

/** Methods that handles do not have: `open` is called by heddle if it takes no parameters. */
type Unnamed<Instance> =
  | "then"
  | "toJSON"
  | (Instance extends { open(): unknown } ? "open" : never);

/** A handle of an object in a worker: its public methods as async functions. Generators return streams. */
export type Spawned<Instance extends object> =
  & OfHandle<Instance>
  & {
    readonly [
      Name in Exclude<keyof Instance, symbol | Unnamed<Instance>> as Instance[Name] extends
        AnyFunction ? Name
        : never
    ]: Instance[Name] extends AnyFunction ? Call<Instance[Name]> : never;
  };

// deno-lint-ignore no-explicit-any -- parameters of any class
type AnyClass = new (...args: any) => object;

/** The classes of a module as functions that make an object in a worker. */
export type SpawnClasses<Module> = {
  readonly [Name in keyof Module as Module[Name] extends AnyClass ? Name : never]:
    Module[Name] extends AnyClass ? (
        ...args: CallArguments<ConstructorParameters<Module[Name]>>
      ) => Promise<Spawned<InstanceType<Module[Name]>>>
      : never;
};

/**
 * Makes objects in workers: `await pool.spawn<typeof import("./engine.ts")>(url).Engine("data.db")`, or
 * `await pool.spawn.Engine("data.db")` for a class of the module of the pool. The class is exported by this name. Its method `open()`,
 * if it has one without parameters, is awaited first.
 */
export type Spawn<Tasks> = SpawnClasses<Tasks> & {
  /** The classes of another module, by its URL or absolute path. */
  <Module extends object>(module: string | URL): SpawnClasses<Module>;
  /** The same with options for each object. */
  with(options: SpawnOptions): Spawn<Tasks>;
};
