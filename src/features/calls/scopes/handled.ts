/** Whether the program handles the promises of a scope, which decides whose their errors are. docs/scopes.md has the rule. */
import { Promise, WeakSet } from "../../../builtins.ts";

const handled = new WeakSet<object>();

/** `await` reads `then` of a promise that is of another class than `Promise`, and so do `Promise.all` and `catch`. */
class ScopePromise<T> extends Promise<T> {
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- a promise that notices who handles it
  override then<Value = T, Reason = never>(
    onValue?: ((value: T) => Value | PromiseLike<Value>) | null,
    onReason?: ((reason: unknown) => Reason | PromiseLike<Reason>) | null,
  ): Promise<Value | Reason> {
    handled.add(this);
    return super.then(onValue, onReason);
  }
}

/** From now on `isHandled` knows whether anything was attached to the promise. */
export function watchHandling(promise: Promise<unknown>): void {
  Object.setPrototypeOf(promise, ScopePromise.prototype);
}

export function isHandled(promise: Promise<unknown>): boolean {
  return handled.has(promise);
}
