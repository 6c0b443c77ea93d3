/** The types of `pool.spawn`. Types only. */
import type { AnyFunction } from "../../../api/tasks/task-types.ts";
import type { Call, CallArguments } from "../../../api/calls/call-types.ts";

/** Options of objects: `pool.spawn.with({ placement: "pack" })`. */
export interface SpawnOptions {
  /**
   * Which worker gets the object: "spread", that with the fewest objects; "pack", that with the most; or that of another object.
   *
   * @default "spread"
   */
  readonly placement?: "spread" | "pack" | Spawned<object>;
}

/** What a handle of an object has beside its methods. */
export interface OfHandle<Instance extends object> extends AsyncDisposable {
  /** The value of a public property, as it is when the call arrives: `await engine.$get("path")`. */
  $get<Name extends keyof Instance & string>(name: Name): Promise<Instance[Name]>;
  /**
   * Ends the object: its calls end first, then its `[Symbol.asyncDispose]()` or `[Symbol.dispose]()` runs in the worker. Rejects with
   * what that throws. Further calls reject with ObjectLostError. `await using` does the same.
   */
  $release(): Promise<void>;
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
