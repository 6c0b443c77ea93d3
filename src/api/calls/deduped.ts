/** What `dedupe` makes. */
import { Date, Map, Promise } from "../../builtins.ts";
import { InvalidArgumentError } from "../../errors.ts";
import {
  checkKeys,
  checkLimit,
  checkMs,
  invalid,
  isRecord,
  ownOf,
  show,
} from "../../option-checks.ts";
import type { CallKey, DedupeOptions, ResultCache } from "./dedupe.ts";

const DEFAULT_MAX = 1000;

/** Checks the arguments of `dedupe`. Throws InvalidArgumentError. */
export function createDeduped(
  call: (...args: never[]) => PromiseLike<unknown>,
  options: unknown,
): ((...args: unknown[]) => Promise<unknown>) & { clear(): void } {
  if (typeof call !== "function") {
    throw invalid("dedupe()", "a function that returns promises", show(call));
  }
  const { keyOf, results } = checkDedupe(options);
  const running = new Map<CallKey, Promise<unknown>>();

  const run = async (args: readonly unknown[]): Promise<unknown> => {
    const made = call(...args as never[]) as unknown;
    if (!isPromise(made)) {
      throw new InvalidArgumentError(
        "dedupe() is for calls that return promises, not for generators: a stream has one reader.",
      );
    }
    return await made;
  };
  const start = (key: CallKey, args: readonly unknown[]): Promise<unknown> => {
    const shared = run(args).then((value) => {
      if (running.get(key) === shared) results?.keep(key, value);
      return value;
    }).finally(() => {
      if (running.get(key) === shared) running.delete(key);
    });
    running.set(key, shared);
    return shared;
  };
  const deduped = (...args: unknown[]): Promise<unknown> => {
    if (args.some(isPromise)) return Promise.all(args).then((values) => deduped(...values));
    try {
      const key = keyOf(args);
      const found = running.get(key);
      if (found !== undefined) return found;
      const kept = results?.find(key);
      return kept === undefined ? start(key, args) : Promise.resolve(kept.value);
    } catch (error) {
      return Promise.reject(error);
    }
  };
  return Object.assign(deduped, {
    clear: () => {
      running.clear();
      results?.clear();
    },
  });
}

function isPromise(value: unknown): boolean {
  return typeof (Object(value) as Partial<PromiseLike<unknown>>).then === "function";
}

interface Results {
  find(key: CallKey): { readonly value: unknown } | undefined;
  keep(key: CallKey, value: unknown): void;
  clear(): void;
}

/** Results by their keys, the most recently used last. */
class RecentResults implements Results {
  readonly #ttlMs: number;
  readonly #max: number;
  readonly #results = new Map<CallKey, { readonly value: unknown; readonly untilMs: number }>();

  constructor(ttlMs: number, max: number) {
    this.#ttlMs = ttlMs;
    this.#max = max;
  }

  find(key: CallKey): { readonly value: unknown } | undefined {
    const result = this.#results.get(key);
    if (result === undefined) return undefined;
    this.#results.delete(key);
    if (Date.now() >= result.untilMs) return undefined;
    this.#results.set(key, result);
    return result;
  }

  keep(key: CallKey, value: unknown): void {
    this.#results.delete(key);
    this.#results.set(key, { value, untilMs: Date.now() + this.#ttlMs });
    if (this.#results.size > this.#max) {
      this.#results.delete(this.#results.keys().next().value!);
    }
  }

  clear(): void {
    this.#results.clear();
  }
}

/** Results in a cache of the program. */
function resultsIn(cache: ResultCache): Results {
  return {
    find: (key) => {
      const value = cache.get(key);
      if (isPromise(value)) {
        throw new InvalidArgumentError("cache.get() must return the value, not a promise of it.");
      }
      return value === undefined ? undefined : { value };
    },
    keep: (key, value) => {
      try {
        if (value !== undefined) cache.set(key, value as never);
      } catch {
        // It has no room for it, or cannot hold it: the next call runs.
      }
    },
    clear: () => {}, // it is the program's
  };
}

function checkDedupe(given: unknown): {
  readonly keyOf: (args: readonly unknown[]) => CallKey;
  readonly results: Results | undefined;
} {
  if (!isRecord(given)) throw invalid("dedupe()", "an object of options", show(given));
  checkKeys("dedupe()", given, ["key", "ttlMs", "max", "cache"]);
  const { key, ttlMs = 0, max = DEFAULT_MAX, cache } = ownOf<DedupeOptions>(given);
  if (key !== undefined && typeof key !== "function") throw invalid("key", "a function", show(key));
  const keyOf = key === undefined
    ? keyOfPrimitives
    : checkedKey(key as (...args: unknown[]) => unknown);
  const keptMs = checkMs("ttlMs", ttlMs, 0);
  const most = checkLimit("max", max);
  if (cache === undefined) {
    return { keyOf, results: keptMs === 0 ? undefined : new RecentResults(keptMs, most) };
  }
  const { get, set } = Object(cache) as Partial<ResultCache>;
  if (typeof get !== "function" || typeof set !== "function") {
    throw invalid("cache", "a SharedCache, or another object with get and set", show(cache));
  }
  if (key === undefined) {
    throw new InvalidArgumentError(
      "dedupe() with a cache needs a key, by which the results are in it.",
    );
  }
  if (keptMs !== 0 || most !== DEFAULT_MAX) {
    throw new InvalidArgumentError(
      "ttlMs and max are for results without a cache of their own: give them to the cache.",
    );
  }
  return { keyOf, results: resultsIn(cache as ResultCache) };
}

function checkedKey(key: (...args: unknown[]) => unknown): (args: readonly unknown[]) => CallKey {
  return (args) => {
    const found = key(...args);
    if (typeof found === "string" || typeof found === "number") return found;
    throw invalid("the result of key()", "a string or a number", show(found));
  };
}

/** All arguments as one text, each with its type and length. */
function keyOfPrimitives(args: readonly unknown[]): string {
  return args.map((arg, index) => {
    const isPrimitive = arg === null || !["object", "function", "symbol"].includes(typeof arg);
    if (!isPrimitive) {
      throw new InvalidArgumentError(
        `dedupe() needs a key, since args[${index}] is no primitive value: dedupe(call, { key: (…args) => … }).`,
      );
    }
    const text = Object.is(arg, -0) ? "-0" : String(arg);
    return `${typeof arg} ${text.length} ${text}`;
  }).join();
}
