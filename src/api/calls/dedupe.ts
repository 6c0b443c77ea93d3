/** `dedupe`: equal calls in flight share one run, and later ones get its result while it is kept. */
import * as deferred from "./deferred.ts";

/** What tells equal calls from others. */
export type CallKey = string | number;

/** Where results are kept: a `SharedCache` of `heddle/shared`, a `Map`, or what has these methods. */
export interface ResultCache {
  /** The value of the key. Undefined: there is none. */
  get(key: CallKey): unknown;
  /** Keeps a value. */
  set(key: CallKey, value: never): unknown;
}

type AwaitedEach<Args extends readonly unknown[]> = {
  [Index in keyof Args]: Awaited<Args[Index]>;
};

/** Options of {@link dedupe}. */
export interface DedupeOptions<Args extends readonly unknown[] = never> {
  /**
   * The key of a call with these arguments.
   *
   * @default the arguments, which then must be primitive values
   */
  readonly key?: (...args: AwaitedEach<Args>) => CallKey;
  /**
   * How long a result is kept, in milliseconds; 0: only calls in flight share one; Infinity: until `clear()`.
   *
   * @default 0
   */
  readonly ttlMs?: number;
  /**
   * Most results that are kept: an integer from 1, or Infinity. Those that were not used for the longest time go first.
   *
   * @default 1000
   */
  readonly max?: number;
  /**
   * Keeps the results in the place of `ttlMs` and `max`, by the values of `key`, which it needs: a `SharedCache` shares them with
   * workers. A result that it refuses is not kept, nor is `undefined`. Functions with one cache need keys that differ.
   *
   * @default none
   */
  readonly cache?: ResultCache;
}

/** A function as {@link dedupe} returns it. */
export type Deduped<F extends (...args: never[]) => PromiseLike<unknown>> =
  & ((...args: Parameters<F>) => ReturnType<F>)
  & {
    /** Forgets what is kept by `ttlMs`. The next calls start runs of their own, also beside those in flight. */
    clear(): void;
  };

/**
 * A function that calls `call` once for equal calls: those in flight share its promise. They get the same value, not a copy each.
 * Errors are shared as well, and not kept. For any function that returns promises: `pool.call.f`, one with options, a method of an
 * object in a worker. Throws InvalidArgumentError.
 *
 * @example
 * ```ts
 * const parse = dedupe(pool.call.parse, { ttlMs: 60_000, max: 500 });
 * await Promise.all([parse("a.md"), parse("a.md")]); // one run
 * ```
 */
export function dedupe<F extends (...args: never[]) => PromiseLike<unknown>>(
  call: F,
  options: DedupeOptions<Parameters<F>> = {},
): Deduped<F> {
  return deferred.createDeduped(call, options) as unknown as Deduped<F>;
}
