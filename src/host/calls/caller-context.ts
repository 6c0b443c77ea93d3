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

/** Runs any number of functions in the asynchronous context in which it was made, each in a microtask. They must not throw. */
export class CallerContext {
  #run = bindOnce();
  /** In order; undefined: none is due. */
  #due: (() => void)[] | undefined;

  run(f: () => void): void {
    if (this.#due !== undefined) {
      this.#due.push(f);
      return;
    }
    const due = this.#due = [f];
    this.#run(() => {
      this.#run = bindOnce(); // in the same context
      this.#due = undefined;
      for (const each of due) each();
    });
  }
}

/** The context in which heddle was loaded: for what belongs to no caller. */
export const noCaller: CallerContext = new CallerContext();
