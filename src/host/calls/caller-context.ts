/** The asynchronous context of a call's caller (`AsyncLocalStorage`), for what its end runs. */
import { Promise } from "../../builtins.ts";

/** Returns what runs a function at the end of a call that is made now, where code of the program may run. */
export type BindEnd = () => (f: () => void) => void;

/**
 * Returns a function that runs another, once, in the asynchronous context of now and in a microtask. It costs as much as a
 * promise, a fraction of `Runtime.bindContext`.
 */
export function bindOnce(): (f: () => void) => void {
  const { promise, resolve } = Promise.withResolvers<() => void>();
  void promise.then((f) => f());
  return resolve;
}
