/** `currentPool()`: calls of the tasks of the pool that runs the calling task. */
import { atCaller } from "../../../../realm/caller-stack.ts";
import { taskRealm } from "../../../../realm/worker-realm.ts";
import { type GivenNested, type NestedOptions, NO_NESTED, withNested } from "./nested-options.ts";
import { request, requestsOf, tableOf } from "./host.ts";
import type { Calls } from "../../../../api/calls/call-types.ts";

/** Arguments that have to be known when the call is made. */
type Known<Args extends readonly unknown[]> = {
  // deno-lint-ignore no-explicit-any -- a promise of anything
  [Index in keyof Args]: Exclude<Args[Index], Promise<any>>;
};

/** A task as other tasks of its pool call it. */
export interface NestedCall<Args extends readonly unknown[], Result> {
  /** Calls the task. */
  (...args: Args): Promise<Result>;
  /** Returns the same function with these options, which win over those of an earlier `with` and of the task. Signals add up. */
  with(options: NestedOptions): NestedCall<Args, Result>;
}

/** The same, for a caller that waits with its thread. */
export interface NestedSyncCall<Args extends readonly unknown[], Result> {
  /** Calls the task, and returns or throws what it does. */
  (...args: Args): Result;
  /** Returns the same function with these options. They apply to async tasks alone, since others run at once. */
  with(options: Omit<NestedOptions, "signal">): NestedSyncCall<Args, Result>;
}

/** The calls of `Tasks` that return promises: generators cannot be called by tasks. */
type Awaitable<Tasks> = {
  [Name in keyof Calls<Tasks>]: Calls<Tasks>[Name] extends (...args: never[]) => Promise<unknown>
    ? Name
    : never;
}[keyof Calls<Tasks>];

/** The pool that runs a task, as that task sees it. */
export interface CurrentPool<Tasks extends object> {
  /**
   * The tasks as async functions: `await currentPool().call.resize(image)`. While a task awaits them it does not count for
   * `maxConcurrency`, so other calls run in its place.
   */
  readonly call: {
    readonly [Name in Awaitable<Tasks>]: Calls<Tasks>[Name] extends
      (...args: infer Args) => Promise<infer Result> ? NestedCall<Known<Args>, Result> : never;
  };
  /**
   * The tasks as functions that block the worker. A synchronous task runs at once, in this worker; an async one in another
   * worker, or they throw DeadlockError if all others wait in the same way.
   */
  readonly sync: {
    readonly [Name in Awaitable<Tasks>]: Calls<Tasks>[Name] extends
      (...args: infer Args) => Promise<infer Result> ? NestedSyncCall<Known<Args>, Result> : never;
  };
}

/** Any task by any name. */
type AnyTasks = Readonly<Record<string, (...args: unknown[]) => unknown>>;

const NAME = "currentPool()";

type Nested = ((...args: unknown[]) => unknown) & { with(options: NestedOptions): Nested };

function nested(
  given: GivenNested,
  make: (given: GivenNested) => (...args: unknown[]) => unknown,
): Nested {
  return Object.assign(make(given), {
    with: atCaller((options: NestedOptions) => nested(withNested(given, options), make)),
  });
}

function createCalls() {
  const call = tableOf((name) =>
    nested(
      NO_NESTED,
      ({ settings, signal }) => (...args) =>
        request(NAME, (requests) => requests.callTask(name, args, settings, signal)),
    )
  );
  const sync = tableOf((name) =>
    nested(
      NO_NESTED,
      ({ settings }) => (...args) => requestsOf(NAME).callTaskSync(name, args, settings),
    )
  );
  return Object.freeze({ call, sync });
}

let pool: ReturnType<typeof createCalls> | undefined;

/**
 * The pool that runs this task: its tasks call others, or themselves, by `call` and `sync`. The type parameter states its tasks.
 * Outside tasks the calls fail with InvalidArgumentError.
 *
 * The calls are aborted with the call that makes them: by its signal, its time limits, or its error. They get its priority
 * and its context. Call `currentPool` at the top level of the module, so that this holds for the first calls of a worker too.
 *
 * @example
 * ```ts
 * import { currentPool } from "heddle/task";
 *
 * const pool = currentPool<typeof import("./tasks.ts")>();
 *
 * export async function sum(from: number, to: number): Promise<number> {
 *   if (to - from < 1000) return sumOf(from, to);
 *   const middle = (from + to) >> 1;
 *   const halves = await Promise.all([pool.call.sum(from, middle), pool.call.sum(middle, to)]);
 *   return halves[0] + halves[1];
 * }
 * ```
 */
export function currentPool<Tasks extends object = AnyTasks>(): CurrentPool<Tasks> {
  taskRealm()?.requests?.track();
  return (pool ??= createCalls()) as unknown as CurrentPool<Tasks>;
}
