/**
 * One run of `pool.map`: takes items from the source, calls the task for chunks of them, and hands on the results.
 *
 * At most `concurrency` chunks are in flight or unread, so neither the source nor the results run ahead of the reader.
 * Chunks grow until one takes about a millisecond, measured in the worker: the cost of a call is then small beside it, and
 * the last chunks still end close together.
 */
import { AbortController, DOMException, Map, Promise, TypeError } from "../../../../builtins.ts";
import { WorkerLostError } from "../../../../errors.ts";
import { StreamConsumer } from "../../streams/stream-consumer.ts";
import { isThenable } from "../../../../protocol/is-thenable.ts";
import type { AnyIterator } from "../../streams/stream-producer.ts";
import type { RunWatch } from "../../../../host/calls/call-settings.ts";
import { type FailedItems, isOfAll, tellItem } from "./item-errors.ts";
import type { BoundCall, Mappable } from "./mappable.ts";

/** Run time of a chunk that is aimed at, and the largest number of its items. */
const CHUNK_MS = 1;
const MAX_CHUNK = 8192;
/** A chunk is at most so many times as long as the one before. */
const GROWTH = 16;

/** Where the items come from. */
export interface ItemSource extends AnyIterator {
  /** The next items, up to `count`, in a new array. For arrays, whose iterator takes several times as long. */
  readonly many?: (count: number) => unknown[];
}

export interface MapRunOptions {
  readonly task: Mappable;
  /** Runs the source and makes the calls in the asynchronous context of the run's caller. */
  readonly inContext: <Result>(f: () => Result) => Result;
  readonly source: ItemSource;
  readonly concurrency: number;
  /** Items in a chunk; undefined: by run time. */
  readonly chunk: number | undefined;
  /** Whether results come in the order of their items. */
  readonly isOrdered: boolean;
  /** Whether each chunk is reduced to one result. */
  readonly isReduction: boolean;
  /** Whether errors of items are results, and the run goes on. */
  readonly isSettled: boolean;
  /** Is told how many items are done, whenever some are. */
  readonly onDone: ((done: number) => void) | undefined;
  /** What errors call the run: `pool.map(pool.call.f)`. */
  readonly name: string;
  /** Arguments of every call after the items. */
  readonly args: readonly unknown[];
  /** Ends the run. */
  readonly signal: AbortSignal | undefined;
  readonly follower: RunFollower | undefined;
}

/** Follows the run and its calls, for a scope. */
export interface RunFollower extends RunWatch {
  /** The scope, whose functions are called. */
  readonly owner: object;
  /** Throws if the scope takes no more calls. */
  checkOpen(): void;
  /** The run is about to take its first items. */
  onStart(run: MapRun): void;
}

/** What has become of a chunk. */
interface Outcome {
  readonly results: readonly unknown[];
  /** Its run time; NaN: it was not called as a chunk. */
  readonly ms: number;
  /** The results before the failure are there. */
  readonly failed?: FailedItems;
}

export class MapRun {
  readonly results: StreamConsumer;
  /** Its reader takes all results, so that it ends by itself. */
  isReadWhole = false;
  readonly #options: MapRunOptions;
  readonly #abort = new AbortController();
  #bound: BoundCall | undefined;
  /** Items of the next chunk. */
  #size: number;
  /** Chunks in flight or unread. */
  #open = 0;
  #inFlight = 0;
  #next = 0;
  /** Items that were sent, and those that are done. */
  #sent = 0;
  #done = 0;
  /** The chunk whose results are due, and results that came before. */
  #due = 0;
  readonly #early = new Map<number, Outcome>();
  /** Items taken from an async source for the next chunk. */
  #items: unknown[] = [];
  #isAwaitingNext = false;
  #isSourceDone = false;
  #isOver = false;

  constructor(options: MapRunOptions) {
    this.#options = options;
    this.#size = options.chunk ?? 1;
    this.results = new StreamConsumer({
      acknowledge: (batches) => {
        this.#open -= batches;
        this.#fill();
      },
      cancel: () => {
        this.#stop(new DOMException("The results are not wanted any more.", "AbortError"));
        this.results.end(undefined);
      },
    });
    this.results.highWaterMark = 1; // each batch is acknowledged
  }

  start(): void {
    const { signal, follower } = this.#options;
    signal?.addEventListener("abort", this.#onAbort);
    follower?.onStart(this);
    if (signal?.aborted === true) this.#onAbort();
    else this.#fill();
  }

  readonly #onAbort = (): void => this.#fail(this.#options.signal!.reason);

  /** Ends the run with an error. Returns whether it was not over. */
  abort(reason: unknown): boolean {
    const wasRunning = !this.#isOver;
    this.#fail(reason);
    return wasRunning;
  }

  /** Calls the task for further chunks as long as there is room. */
  #fill(): void {
    this.#options.inContext(() => this.#fillNow());
  }

  #fillNow(): void {
    try {
      while (!this.#isOver && this.#open < this.#options.concurrency) {
        if (!this.#isSourceDone && !this.#isAwaitingNext && this.#items.length < this.#size) {
          this.#take();
        }
        // What an async source has given until now need not wait for the rest.
        if (this.#items.length === 0) break;
        this.#send(this.#items.splice(0, this.#size));
      }
    } catch (error) {
      this.#fail(error);
    }
    this.#endIfDone();
  }

  /** Takes items from the source up to the size of a chunk, or until it has to be awaited. */
  #take(): void {
    const { source } = this.#options;
    if (source.many !== undefined) {
      if (this.#items.length > 0) return; // chunks have become smaller
      this.#items = source.many(this.#size);
      this.#isSourceDone = this.#items.length < this.#size;
      return;
    }
    try {
      while (this.#items.length < this.#size) {
        const result = source.next();
        if (isThenable(result)) {
          this.#isAwaitingNext = true;
          Promise.resolve(result).then(
            (settled) => this.#acceptLater(settled),
            (error) => this.#failSource(error),
          );
          return;
        }
        if (!this.#accept(result)) return;
      }
    } catch (error) {
      this.#isSourceDone = true; // it failed itself, so it is not asked to return
      throw error;
    }
  }

  /** A promise of `next()` has resolved. */
  #acceptLater(settled: unknown): void {
    this.#isAwaitingNext = false;
    if (this.#isOver) return;
    let hasItem: boolean;
    try {
      hasItem = this.#accept(settled);
    } catch (error) {
      this.#failSource(error);
      return;
    }
    if (hasItem) this.#fillSoon();
    else this.#fill();
  }

  #failSource(error: unknown): void {
    this.#isSourceDone = true;
    this.#fail(error);
  }

  /** Goes on with an async source: collects what it has at once before a chunk is sent. */
  #fillSoon(): void {
    try {
      if (this.#items.length < this.#size && this.#inFlight > 0) this.#take();
      if (!this.#isAwaitingNext || this.#inFlight === 0) this.#fill();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Takes what `next()` returned or resolved to. Throws TypeError if that is no object. */
  #accept(result: unknown): boolean {
    if (typeof result !== "object" || result === null) {
      throw new TypeError(`Iterator result ${String(result)} is not an object.`);
    }
    const { done, value } = result as IteratorResult<unknown>;
    if (done === true) this.#isSourceDone = true;
    else this.#items.push(value);
    return done !== true;
  }

  #send(items: readonly unknown[]): void {
    const number = this.#next++;
    this.#open++;
    this.#inFlight++;
    // Tasks of a module pool can be called in chunks as soon as they are known.
    if (this.#bound?.isKnown !== true) {
      const { task, follower } = this.#options;
      this.#bound = task.bind({ signal: this.#abort.signal, run: follower });
    }
    const from = this.#sent;
    this.#sent += items.length;
    const called = this.#options.isSettled
      ? this.#callSettled(this.#bound, items, from)
      : this.#call(this.#bound, items);
    called.then(
      (outcome) => this.#settle(number, from, items, outcome),
      (error) => this.#fail(error),
    );
  }

  async #call(bound: BoundCall, items: readonly unknown[]): Promise<Outcome> {
    const { isReduction, args } = this.#options;
    const { chunk, single, again } = bound;
    const isChunk = chunk !== undefined && (items.length > 1 || this.#options.chunk === undefined);
    const called = isChunk ? chunk(items, isReduction, args) : undefined;
    if (called === undefined) {
      // The chunk may have been too large.
      if (isChunk && this.#options.chunk === undefined) this.#size = Math.ceil(items.length / 2);
      return await this.#callEach(single, items);
    }
    try {
      const [results, ms, used, ...thrown] = await called;
      if (thrown.length > 0) {
        return {
          results,
          ms,
          failed: { error: thrown[0], from: used - 1, count: 1, isThrown: true },
        };
      }
      if (used === items.length || this.#isOver) return { results, ms };
      // The worker has used some of the items only.
      const others = items.slice(used);
      if (isReduction) return await this.#call(bound, [...results, ...others]);
      return joined({ results, ms: NaN }, await this.#call(bound, others));
    } catch (error) {
      if (again !== undefined && error instanceof WorkerLostError) {
        return await this.#callEach(again, items);
      }
      return { results: [], ms: NaN, failed: { error, from: 0, count: items.length } };
    }
  }

  /** Makes a call for each item. */
  async #callEach(single: BoundCall["single"], items: readonly unknown[]): Promise<Outcome> {
    const { isReduction, args } = this.#options;
    const results: unknown[] = isReduction ? [items[0]] : [];
    let at = results.length;
    try {
      for (; at < items.length && !this.#isOver; at++) {
        if (isReduction) results[0] = await single(results[0], items[at], ...args);
        else results.push(await single(items[at], ...args));
      }
    } catch (error) {
      return { results, ms: NaN, failed: { error, from: at, count: 1 } };
    }
    return { results, ms: NaN };
  }

  /** Goes on after errors of items, which are results. `from`: the index of the first item. */
  async #callSettled(
    bound: BoundCall,
    items: readonly unknown[],
    from: number,
  ): Promise<Outcome> {
    const results: unknown[] = [];
    let totalMs = 0;
    for (let rest = items; rest.length > 0 && !this.#isOver;) {
      const { results: values, ms, failed } = await this.#call(bound, rest);
      totalMs += ms;
      for (const value of values) {
        results.push({ status: "fulfilled", value, index: from + results.length });
      }
      if (failed === undefined) break;
      if (isOfAll(failed) || bound.signal?.aborted === true) {
        return { results, ms: totalMs, failed };
      }
      this.#tell(failed, rest, from + results.length);
      for (const item of rest.slice(values.length, values.length + failed.count)) {
        const index = from + results.length;
        results.push({ status: "rejected", reason: failed.error, index, item });
      }
      rest = items.slice(results.length);
    }
    return { results, ms: totalMs };
  }

  /** Tells which item of a chunk an error is of; `index`: its own among all. */
  #tell(failed: FailedItems, items: readonly unknown[], index: number): void {
    const { isReduction, name } = this.#options;
    if (isReduction || this.#bound?.signal?.aborted === true) return;
    tellItem({ ...failed, from: index }, items[failed.from], name);
  }

  #settle(number: number, from: number, items: readonly unknown[], outcome: Outcome): void {
    this.#inFlight--;
    if (this.#isOver) return;
    const { results, ms, failed } = outcome;
    if (failed !== undefined) this.#tell(failed, items, from + failed.from);
    else if (this.#options.chunk === undefined) this.#resize(items.length, ms);
    this.#done += failed === undefined ? items.length : results.length;
    this.#options.onDone?.(this.#done);
    if (!this.#options.isOrdered) this.#deliver(outcome);
    else {
      this.#early.set(number, outcome);
      for (
        let due = this.#early.get(this.#due);
        due !== undefined;
        due = this.#early.get(this.#due)
      ) {
        this.#early.delete(this.#due++);
        this.#deliver(due);
        if (this.#isOver) return;
      }
    }
    this.#fill();
  }

  #resize(count: number, ms: number): void {
    if (Number.isNaN(ms)) return; // single calls
    const fitting = Math.floor(count * CHUNK_MS / Math.max(ms, 1e-3));
    this.#size = Math.max(1, Math.min(fitting, GROWTH * count, MAX_CHUNK));
  }

  #deliver({ results, failed }: Outcome): void {
    if (failed !== undefined) this.#stop(failed.error); // before the results: taking the last ones would end the run
    if (results.length > 0) this.results.push(results, 0);
    else this.#open--;
    if (failed !== undefined) this.results.fail(failed.error);
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#stop(error);
    this.results.fail(error);
  }

  /** Takes no more items, and aborts what is in flight. */
  #stop(reason: unknown): void {
    if (this.#isOver) return;
    this.#end();
    this.#abort.abort(reason);
    if (this.#isSourceDone) return;
    this.#isSourceDone = true;
    try {
      const { source, inContext } = this.#options;
      const ended = inContext(() => source.return?.());
      if (isThenable(ended)) Promise.resolve(ended).catch(() => {}); // the first error counts
    } catch {
      // As above.
    }
  }

  #endIfDone(): void {
    const isDone = this.#isSourceDone && this.#items.length === 0 && this.#inFlight === 0 &&
      this.#early.size === 0;
    if (!isDone || this.#isOver) return;
    this.#end();
    this.results.end(undefined);
  }

  #end(): void {
    this.#isOver = true;
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
  }
}

/** Two parts of a chunk, one after the other. */
function joined(first: Outcome, { results, failed }: Outcome): Outcome {
  const before = first.results.length;
  return {
    results: [...first.results, ...results],
    ms: NaN,
    ...(failed !== undefined && { failed: { ...failed, from: before + failed.from } }),
  };
}
