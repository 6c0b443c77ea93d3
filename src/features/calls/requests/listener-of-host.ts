/** `listener()`: functions of the host that tasks may call for longer than their own call. */
import { describeValue } from "../../../codec/support/describe.ts";
import { InvalidArgumentError } from "../../../errors.ts";
import type { AnyFunction } from "../../../api/tasks/task-types.ts";
import type { Callback } from "./callback-of-host.ts";
import type { AnyCallback } from "./callback-value.ts";
import { LISTENER_KIND, Reference, setReference } from "./references.ts";

/** A function that tasks and objects of workers may call until it is disposed of. They get it as a `Callback`. */
export type Listener<F extends AnyFunction> = Callback<F> & Disposable;

/**
 * Makes a function that may be among the arguments of calls, as `callback()` does, but lives on when the call has ended: an object in a
 * worker may keep it. It ends with `listener[Symbol.dispose]()`; called later, it rejects with CallbackEndedError. Until then each pool
 * to which it was sent keeps it. A worker that gets it twice has one function.
 *
 * @example
 * ```ts
 * using onChange = listener((row: string) => console.log(row));
 * await engine.subscribe(onChange);
 * ```
 */
export function listener<F extends AnyFunction>(f: F): Listener<F> {
  if (typeof f !== "function") {
    throw new InvalidArgumentError(`listener() takes a function, got ${describeValue(f)}.`);
  }
  const reference = new Reference(LISTENER_KIND, f as AnyCallback);
  const called = async (...args: Parameters<F>): Promise<unknown> => await f(...args);
  setReference(called, reference);
  Object.defineProperty(called, Symbol.dispose, { value: () => reference.end() });
  return called as unknown as Listener<F>;
}
