/** `callback()`: functions of the host among the arguments of a call. */
import { describeValue } from "../../../codec/support/describe.ts";
import { markCallback } from "./callback-value.ts";
import { InvalidArgumentError } from "../../../errors.ts";
import type { AnyFunction } from "../../../api/tasks/task-types.ts";

declare const CALLBACK: unique symbol;

/**
 * A function of the host as a task gets it: a parameter of type `Callback<(done: number) => void>` takes
 * `callback((done) => …)`. Each call of it returns a promise.
 */
export type Callback<F extends AnyFunction> =
  & ((...args: Parameters<F>) => Promise<Awaited<ReturnType<F>>>)
  & {
    /**
     * Type only.
     *
     * @ignore
     */
    readonly [CALLBACK]: true;
  };

/** Any {@link Callback}. */
export type AnyCallbackType = {
  /**
   * Type only.
   *
   * @ignore
   */
  readonly [CALLBACK]: true;
};

/**
 * Makes a function that may be among the arguments of `pool.call`, at any depth. The task gets a function that runs `f` on the
 * host, with cloned arguments, and returns a promise of its result; it rejects with what `f` throws.
 *
 * It ends with the call: called later, it rejects with CallbackEndedError. For progress alone `emit()` and `onEvent` cost less.
 *
 * @example
 * ```ts
 * await pool.call.crawl(url, callback((page: string) => pages.push(page)));
 * ```
 */
export function callback<F extends AnyFunction>(f: F): Callback<F> {
  if (typeof f !== "function") {
    throw new InvalidArgumentError(`callback() takes a function, got ${describeValue(f)}.`);
  }
  const called = async (...args: Parameters<F>): Promise<unknown> => await f(...args);
  markCallback(called as (...args: unknown[]) => unknown, f);
  return called as unknown as Callback<F>;
}
