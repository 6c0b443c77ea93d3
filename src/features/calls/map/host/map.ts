/** `pool.map`, `forEach` and `reduce`: a task for many items, in chunks. */
import {
  checkBoolean,
  checkInteger,
  checkKeys,
  checkSignal,
  invalid,
  isRecord,
  ownOf,
  show,
} from "../../../../option-checks.ts";
import { brandOf } from "../../../../codec/support/brands.ts";
import { InvalidArgumentError } from "../../../../errors.ts";
import { ignoreRejections } from "../../../../host/dispatch/pending-arguments.ts";
import { inCallerContext } from "../../../../api/calls/in-caller-context.ts";
import type { HostRuntime } from "../../../../runtimes/runtime.ts";
import { atCaller } from "../../../../realm/caller-stack.ts";
import { StreamConsumer } from "../../streams/stream-consumer.ts";
import { openIterator } from "../../streams/sources/open-source.ts";
import { isStreamable } from "../../../../protocol/is-streamable.ts";
import { type ItemSource, MapRun, type MapRunOptions, type RunFollower } from "./map-run.ts";
import { type Mappable, mappableOf } from "./mappable.ts";
import { MappedResults, type Owner } from "./mapped-results.ts";

/** Options of {@link Pool.map}. `Args` are the types of the task's arguments after the item. */
export interface MapOptions<Args extends readonly unknown[] = readonly unknown[]> {
  /**
   * Maximum number of chunks in flight or unread.
   *
   * @default two for each thread
   */
  readonly concurrency?: number;
  /**
   * Whether results come in the order of their items.
   *
   * @default true
   */
  readonly ordered?: boolean;
  /**
   * Items in a chunk.
   *
   * @default as many as run for about a millisecond, at most 8192
   */
  readonly chunk?: number;
  /**
   * Further arguments of every call, after the item: `pool.map(pool.call.resize, images, { args: [640, 480] })`. They
   * are sent once with each chunk, whose calls share them. They cannot be streams, and cannot move.
   *
   * @default none
   */
  readonly args?: Args;
  /**
   * Ends the run: it takes no more items, aborts the calls in flight, and fails with `signal.reason`. Results that have arrived
   * come first. null: no signal.
   *
   * @default none
   */
  readonly signal?: AbortSignal | null;
  /**
   * Go on after errors of items: the results are outcomes as those of `Promise.allSettled`, with the `index` of their item and,
   * of an error, the `item`. Of `map` alone.
   *
   * @default false
   */
  readonly settled?: boolean;
  /**
   * Is told how many items are done, in any order, whenever a chunk is: `onProgress: ({ done, total }) => show(done, total)`. Of `map` and `forEach`.
   *
   * @default none
   */
  readonly onProgress?: (progress: MapProgress) => void;
}

/** How far a `map` or `forEach` is. */
export interface MapProgress {
  /** Items that are done. */
  readonly done: number;
  /** All items: of an array, a Set or a Map. Undefined: nobody knows. */
  readonly total: number | undefined;
}

/**
 * The parameter `options` of {@link Pool.map}: required if the task has required arguments after the item. `Omitted`: what
 * does not apply.
 */
export type MapParameters<Args extends readonly unknown[], Omitted extends string = never> =
  [] extends Args ? [options?: Omit<MapOptions<Args>, Omitted>]
    : [options: Omit<MapOptions<Args>, Omitted> & { readonly args: Args }];

/** Items for a task: any iterable, a ReadableStream included. */
export type Items<Item> = Iterable<Item> | AsyncIterable<Item>;

type MappingRuntime = Pick<
  HostRuntime,
  "bindContext" | "env" | "isPromise" | "microtask" | "warn"
>;
type RunSettings = Omit<MapRunOptions, "source" | "isReduction">;

/** `map`, `forEach` and `reduce` of a pool with this many threads. */
export class Mapping implements Owner {
  unread = 0;
  /** The methods that pools have: they survive destructuring, and stacks of errors begin with their callers. */
  readonly bound: Pick<Mapping, "map" | "forEach" | "reduce"> = {
    map: atCaller((call, items, options) => this.map(call, items, options)),
    forEach: (call, items, options) => this.forEach(call, items, options),
    reduce: (call, items, options) => this.reduce(call, items, options),
  };
  readonly #pool: object;
  readonly #threads: number;
  readonly #runtime: MappingRuntime;

  constructor(pool: object, threads: number, runtime: MappingRuntime) {
    this.#pool = pool;
    this.#threads = threads;
    this.#runtime = runtime;
  }

  noResults(): StreamConsumer {
    return new StreamConsumer({ acknowledge: () => {}, cancel: () => {} });
  }

  /** The pool closes: results that nobody has read did nothing, which is probably a mistake. Nobody is told in production. */
  warnOfUnread(): void {
    const { unread } = this;
    this.unread = 0;
    if (unread <= 0 || this.#runtime.env("NODE_ENV") === "production") return;
    this.#runtime.warn(
      `heddle: ${
        unread === 1 ? "a result of pool.map() was" : `${unread} results of pool.map() were`
      } neither awaited nor read before the pool ` +
        "was closed, so none of their calls was made: const results = await pool.map(pool.call.f, items).",
    );
  }

  /** `follower`: of a scope. */
  map(
    call: unknown,
    items: unknown,
    options: MapOptions = {},
    follower?: RunFollower,
  ): MappedResults<unknown> {
    const settings = this.#check("map()", call, items, options, follower);
    return new MappedResults(this, () => {
      follower?.checkOpen();
      const source = settings.inContext(() => openSource(items));
      return new MapRun({ ...settings, source, isReduction: false });
    });
  }

  async forEach(
    call: unknown,
    items: unknown,
    options: MapOptions = {},
    follower?: RunFollower,
  ): Promise<void> {
    const settings = this.#check("forEach()", call, items, options, follower);
    const source = openSource(items);
    const run = new MapRun({ ...settings, source, isOrdered: false, isReduction: false });
    run.isReadWhole = true;
    run.start();
    while (await run.results.nextBatch() !== undefined) { /* results are not wanted */ }
  }

  /** Reduces chunks in workers, then their results in the same way, in order. */
  async reduce(
    call: unknown,
    items: unknown,
    options: MapOptions = {},
    follower?: RunFollower,
  ): Promise<unknown> {
    const checked = this.#check("reduce()", call, items, options, follower);
    const settings = { ...checked, isOrdered: true };
    let source: ItemSource = openSource(items);
    for (let chunk = settings.chunk;; chunk = PARTIAL_CHUNK) {
      const run = new MapRun({ ...settings, chunk, source, isReduction: true });
      const partial: unknown[] = [];
      run.isReadWhole = true;
      run.start();
      for (;;) {
        const batch = await run.results.nextBatch();
        if (batch === undefined) break;
        partial.push(...batch);
      }
      if (partial.length === 0) {
        throw new InvalidArgumentError("reduce() of no items has no result.");
      }
      if (partial.length === 1) return partial[0];
      source = openArray(partial);
    }
  }

  /** The items are not used if it throws: nobody else may know of promises among them. */
  #check(
    name: string,
    call: unknown,
    items: unknown,
    options: MapOptions,
    follower: RunFollower | undefined,
  ): RunSettings {
    try {
      return this.#checkAll(name, call, items, options, follower);
    } catch (error) {
      ignoreRejections(Array.isArray(items) ? items : [items], this.#runtime.isPromise);
      throw error;
    }
  }

  #checkAll(
    name: string,
    call: unknown,
    items: unknown,
    options: MapOptions,
    follower: RunFollower | undefined,
  ): RunSettings {
    const task: Mappable | undefined = typeof call === "function" ? mappableOf(call) : undefined;
    if (task?.owner !== (follower?.owner ?? this.#pool)) {
      throw notOf(follower === undefined ? "pool" : "scope", name, call, task !== undefined);
    }
    const isIterable = typeof items === "string" ||
      (typeof items === "object" && items !== null &&
        (Symbol.iterator in items || Symbol.asyncIterator in items));
    if (!isIterable) {
      throw new InvalidArgumentError(`${name} takes an iterable of items, got ${show(items)}.`);
    }
    if (!isRecord(options)) throw invalid("options", "an object", show(options));
    checkKeys(name, options, OPTIONS);
    const { concurrency = 2 * this.#threads, ordered = true, chunk, args = [], signal, ...rest } =
      ownOf<MapOptions>(options);
    const { settled = false, onProgress } = rest;
    const other = settled === true && name !== "map()"
      ? "settled"
      : onProgress !== undefined && name === "reduce()"
      ? "onProgress"
      : undefined;
    if (other !== undefined) throw new InvalidArgumentError(`${name} takes no ${other}.`);
    const owner = follower === undefined ? "pool" : "scope";
    return {
      task,
      name: `${owner}.${name.slice(0, -1)}${owner}.call.${task.name})`,
      inContext: this.#runtime.bindContext(),
      isSettled: checkBoolean("settled", settled),
      onDone: onProgress === undefined ? undefined : this.#report(onProgress, items),
      concurrency: checkCount("concurrency", concurrency),
      chunk: chunk === undefined ? undefined : checkCount("chunk", chunk),
      isOrdered: checkBoolean("ordered", ordered),
      args: checkArgs(args),
      signal: signal === undefined || signal === null ? undefined : checkSignal(signal),
      follower,
    };
  }

  #report(onProgress: unknown, items: unknown): (done: number) => void {
    if (typeof onProgress !== "function") {
      throw invalid("onProgress", "a function", show(onProgress));
    }
    const { length, size = length } = items as { length?: unknown; size?: unknown };
    const total = typeof size === "number" && typeof items === "object" ? size : undefined;
    const report = inCallerContext(this.#runtime, onProgress as (value: unknown) => void);
    return (done) => report([{ done, total }]);
  }
}

const OPTIONS: readonly string[] = [
  "concurrency",
  "ordered",
  "chunk",
  "args",
  "signal",
  "settled",
  "onProgress",
];

function notOf(
  owner: "pool" | "scope",
  name: string,
  call: unknown,
  isOther: boolean,
): InvalidArgumentError {
  const rule = `${name} takes a function of the same ${owner}'s \`call\``;
  const example = `${owner}.${name.slice(0, -2)}(${owner}.call.f, items`;
  if (typeof call !== "function") {
    return new InvalidArgumentError(`${rule}, got ${show(call)}: ${example}).`);
  }
  return new InvalidArgumentError(
    isOther
      ? `${rule}, got one of another pool or scope.`
      : `${rule} itself, such as ${owner}.call.f or ${owner}.call.f.with(options), since ` +
        "other functions cannot be sent to a worker. Further arguments of its calls are an option: " +
        `${example}, { args: [3] }) in place of (x) => ${owner}.call.f(x, 3).`,
  );
}

/** Arguments that are sent many times. */
function checkArgs(args: unknown): readonly unknown[] {
  if (!Array.isArray(args)) throw invalid("args", "an array of arguments", show(args));
  const once = args.findIndex((arg) =>
    isStreamable(arg) || typeof brandOf(arg as object) === "object" // made by transfer()
  );
  if (once < 0) return [...args];
  throw new InvalidArgumentError(
    `args[${once}] can be sent only once, since it is a stream or moves, but args are sent with every chunk of items.`,
  );
}

/** Items of a chunk when the results of chunks are reduced: few, so that all threads take part. */
const PARTIAL_CHUNK = 16;

const checkCount = (name: string, value: unknown): number =>
  checkInteger(name, value, 1, Number.MAX_SAFE_INTEGER);

/** Rethrows the error of opening the items. */
function openSource(items: unknown): ItemSource {
  if (Array.isArray(items)) return openArray(items);
  if (isStreamable(items)) return openIterator(items);
  return (items as Iterable<unknown>)[Symbol.iterator]() as unknown as ItemSource;
}

function openArray(items: readonly unknown[]): ItemSource {
  let at = 0;
  return {
    next: () => at < items.length ? { done: false, value: items[at++] } : { done: true },
    many: (count) => items.slice(at, at += count),
  };
}
