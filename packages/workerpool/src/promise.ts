/**
 * The promise of workerpool: it settles its reactions synchronously, and has `cancel()` and `timeout()`, which act on the
 * first promise of its chain.
 */

import type { Any } from "./types.ts";

/** The reason of a promise whose `cancel()` was called. */
export class CancellationError extends Error {
  override readonly name: string = "CancellationError";

  /** Creates the error. */
  constructor(message = "promise cancelled") {
    super(message);
  }
}

/** The reason of a promise that did not settle within its `timeout()`. */
export class TimeoutError extends Error {
  override readonly name: string = "TimeoutError";

  /** Creates the error. */
  constructor(message = "timeout exceeded") {
    super(message);
  }
}

/** A promise and the functions that settle it. */
export interface Resolver<T = Any> {
  /** The promise. */
  promise: Promise<T, Any>;
  /** Fulfils it. */
  resolve: (value: T) => void;
  /** Rejects it. */
  reject: (error: unknown) => void;
}

type Reaction = readonly [onResolved: (value: Any) => void, onRejected: (error: Any) => void];
type Callback = ((value: Any) => unknown) | null | undefined;

/** A promise of workerpool. */
export class Promise<T, E = Error> {
  /** The error of `cancel()`. */
  static readonly CancellationError: typeof CancellationError = CancellationError;
  /** The error of `timeout()`. */
  static readonly TimeoutError: typeof TimeoutError = TimeoutError;

  /** Whether it was fulfilled. */
  resolved = false;
  /** Whether it was rejected. */
  rejected = false;
  /** Whether it has not settled. */
  pending = true;
  readonly [Symbol.toStringTag]: string = "Promise";
  readonly #parent: Promise<Any, Any> | undefined;
  readonly #reactions: Reaction[] = [];
  #value: unknown;

  /** Runs `handler` at once. `parent`: the promise that `cancel` and `timeout` of this one act on. */
  constructor(
    handler: (resolve: (value: T) => void, reject: (error: E) => void) => void,
    parent?: Promise<Any, Any>,
  ) {
    if (typeof handler !== "function") {
      throw new SyntaxError("Function parameter handler(resolve, reject) missing");
    }
    this.#parent = parent;
    handler((value) => this.#settle(true, value), (error) => this.#settle(false, error));
  }

  #settle(isResolved: boolean, value: unknown): void {
    if (!this.pending) return;
    this.pending = false;
    this.resolved = isResolved;
    this.rejected = !isResolved;
    this.#value = value;
    for (const reaction of this.#reactions.splice(0)) reaction[isResolved ? 0 : 1](value);
  }

  /** Calls one of the functions when it has settled, synchronously if it has. */
  // oxlint-disable-next-line unicorn/no-thenable -- awaiting it is what it is for
  then<R1 = T, R2 = never>(
    onResolved?: ((value: T) => R1 | PromiseLike<R1>) | null,
    onRejected?: ((error: E) => R2 | PromiseLike<R2>) | null,
  ): Promise<R1 | R2, Any> {
    return new Promise<Any, Any>((resolve, reject) => {
      const reaction: Reaction = [
        chained(onResolved, resolve, reject) ?? resolve,
        chained(onRejected, resolve, reject) ?? reject,
      ];
      if (this.pending) this.#reactions.push(reaction);
      else reaction[this.resolved ? 0 : 1](this.#value);
    }, this);
  }

  /** Calls the function if it is rejected. */
  catch<R = never>(onRejected?: ((error: E) => R | PromiseLike<R>) | null): Promise<T | R, Any> {
    return this.then(null, onRejected);
  }

  /** Calls the function when it has settled, with its value or error. */
  always<R>(onSettled: (value?: Any) => R | PromiseLike<R>): Promise<R, Any> {
    return this.then(onSettled, onSettled);
  }

  /** Calls the function when it has settled, and settles alike after it. */
  finally(onSettled?: (() => unknown) | null): Promise<T, Any> {
    const settle = (): Promise<Any, Any> =>
      new Promise<void>((resolve) => resolve()).then(onSettled).then(() => this);
    return this.then(settle, settle);
  }

  /** Rejects the first promise of the chain with a CancellationError; a task that runs ends with its worker. */
  cancel(): this {
    if (this.#parent !== undefined) this.#parent.cancel();
    else this.#settle(false, new CancellationError());
    return this;
  }

  /** Rejects the first promise of the chain with a TimeoutError unless it settles in time, in milliseconds. */
  timeout(delay: number): this {
    if (this.#parent !== undefined) {
      this.#parent.timeout(delay);
    } else {
      const timer = setTimeout(() => {
        this.#settle(false, new TimeoutError(`Promise timed out after ${delay} ms`));
      }, delay);
      this.always(() => clearTimeout(timer));
    }
    return this;
  }

  /** A promise of the values of all; rejected with the first error. */
  static all(promises: readonly PromiseLike<Any>[]): Promise<Any[], Any> {
    return new Promise((resolve, reject) => {
      const values: unknown[] = [];
      let remaining = promises.length;
      if (remaining === 0) resolve(values);
      for (const [index, promise] of promises.entries()) {
        promise.then((value) => {
          values[index] = value;
          if (--remaining === 0) resolve(values);
        }, reject);
      }
    });
  }

  /** A promise with the functions that settle it. */
  static defer<T = Any>(): Resolver<T> {
    const resolver = {} as Resolver<T>;
    resolver.promise = new Promise<T, Any>((resolve, reject) => {
      resolver.resolve = resolve;
      resolver.reject = reject;
    });
    return resolver;
  }
}

/** Whether workerpool takes a value for a promise. */
export const isPromise = (value: Any): value is globalThis.Promise<unknown> =>
  Boolean(value) && typeof value.then === "function" && typeof value.catch === "function";

/** The reaction that settles a promise with the result of a callback; undefined without one. */
function chained(
  callback: Callback,
  resolve: (value: Any) => void,
  reject: (error: Any) => void,
): ((value: unknown) => void) | undefined {
  if (!callback) return undefined;
  return (value) => {
    try {
      const result = callback(value);
      if (isPromise(result)) result.then(resolve, reject);
      else resolve(result);
    } catch (error) {
      reject(error);
    }
  };
}
