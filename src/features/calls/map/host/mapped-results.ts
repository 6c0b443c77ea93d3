/** What `pool.map` returns. */
import { printAs } from "../../../../runtimes/printed.ts";
import type { StreamConsumer } from "../../streams/stream-consumer.ts";
import type { MapRun } from "./map-run.ts";

/** What makes results. */
export interface Owner {
  /** How many were made and neither awaited nor read. */
  unread: number;
  /** Those of what could not be started, or was ended before it was read. */
  noResults(): StreamConsumer;
}

/**
 * The results of {@link Pool.map}: a promise of an array, and an async iterable for one reader. Nothing runs before it is awaited
 * or read.
 */
export class MappedResults<Result>
  implements
    PromiseLike<Result[]>,
    AsyncIterableIterator<Result, undefined, void>,
    AsyncDisposable {
  readonly #owner: Owner;
  readonly #start: () => MapRun;
  #run: MapRun | undefined;
  /** Set if it was ended before it was read, or could not be started. */
  #refused: StreamConsumer | undefined;
  #all: Promise<Result[]> | undefined;

  /** @internal */
  constructor(owner: Owner, start: () => MapRun) {
    this.#owner = owner;
    this.#start = start;
    owner.unread++;
  }

  /** Awaits all results: `await pool.map(call, items)`. A promise whose `then` was called once gives the same array again. */
  // oxlint-disable-next-line unicorn/no-thenable -- awaiting it is what it is for
  then<Value = Result[], Reason = never>(
    onValue?: ((results: Result[]) => Value | PromiseLike<Value>) | null,
    onReason?: ((reason: unknown) => Reason | PromiseLike<Reason>) | null,
  ): Promise<Value | Reason> {
    this.#all ??= this.toArray();
    return this.#all.then(onValue, onReason);
  }

  /** As `catch()` of the promise of all results. */
  catch<Reason = never>(
    onReason?: ((reason: unknown) => Reason | PromiseLike<Reason>) | null,
  ): Promise<Result[] | Reason> {
    return this.then(undefined, onReason);
  }

  /** As `finally()` of the promise of all results. */
  finally(onSettled?: (() => void) | null): Promise<Result[]> {
    this.#all ??= this.toArray();
    return this.#all.finally(onSettled);
  }

  /** All results that have not been read. */
  async toArray(): Promise<Result[]> {
    const all: Result[] = [];
    await this.#eachBatch((results) => {
      for (const result of results) all.push(result as Result);
    });
    return all;
  }

  /** The next result; the first call opens the source. Rejects with the error that ended the run. */
  next(): Promise<IteratorResult<Result, undefined>> {
    return this.#results.next() as Promise<IteratorResult<Result, undefined>>;
  }

  /** Stops: takes no more items from the source, and aborts the calls in flight. Owner results never open the source. */
  async return(): Promise<IteratorResult<Result, undefined>> {
    if (this.#run !== undefined) await this.#run.results.return();
    else if (this.#refused === undefined) {
      this.#owner.unread--;
      this.#refused = this.#owner.noResults();
      this.#refused.end(undefined);
    }
    return { done: true, value: undefined };
  }

  /** These results themselves, which one reader can read once. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Stops, as `return()` does. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  static {
    printAs(this.prototype, (mapped) => {
      if (!(#start in mapped)) return "MappedResults";
      const isBegun = mapped.#run !== undefined || mapped.#refused !== undefined;
      return isBegun
        ? "MappedResults (begun)"
        : "MappedResults (not begun: await it, or read it by for await)";
    });
  }

  get #results(): StreamConsumer {
    if (this.#run !== undefined) return this.#run.results;
    if (this.#refused !== undefined) return this.#refused;
    this.#owner.unread--;
    try {
      this.#run = this.#start();
    } catch (error) {
      this.#refused = this.#owner.noResults(); // the source cannot be opened
      this.#refused.fail(error);
      return this.#refused;
    }
    this.#run.start();
    return this.#run.results;
  }

  async #eachBatch(use: (results: readonly unknown[]) => void): Promise<void> {
    const results = this.#results;
    if (this.#run !== undefined) this.#run.isReadWhole = true;
    for (;;) {
      const batch = await results.nextBatch();
      if (batch === undefined) return;
      use(batch);
    }
  }
}
