/**
 * One run of `pool.map`: takes items from the source, calls the task for chunks of them, and hands on the results.
 *
 * At most `concurrency` chunks are in flight or unread, so neither the source nor the results run ahead of the reader.
 * Chunks grow until one takes about a millisecond, measured in the worker: the cost of a call is then small beside it, and
 * the last chunks still end close together.
 */
import { AbortController, DOMException, Map, Promise, TypeError } from "../../../../builtins.ts";
import type { ChunkResult } from "../../../../protocol/task-variants.ts";
import { StreamConsumer } from "../../streams/stream-consumer.ts";
import { isThenable } from "../../../../protocol/is-thenable.ts";
import type { AnyIterator } from "../../streams/stream-producer.ts";
import type { RunWatch } from "../../../../host/calls/call-settings.ts";
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
  /** The chunk whose results are due, and results that came before. */
  #due = 0;
  readonly #early = new Map<number, ChunkResult>();
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
    this.#call(this.#bound, items).then(
      (result) => this.#settle(number, items.length, result),
      (error) => this.#settle(number, items.length, [[], NaN, 0, error]),
    );
  }

  async #call(bound: BoundCall, items: readonly unknown[]): Promise<ChunkResult> {
    const { isReduction, args } = this.#options;
    const { chunk } = bound;
    const isChunk = chunk !== undefined && (items.length > 1 || this.#options.chunk === undefined);
    const called = isChunk ? chunk(items, isReduction, args) : undefined;
    if (called === undefined) {
      // The chunk may have been too large.
      if (isChunk && this.#options.chunk === undefined) this.#size = Math.ceil(items.length / 2);
      return await this.#callEach(bound, items);
    }
    const result = await called;
    const [results, , used] = result;
    if (result.length > 3 || used === items.length || this.#isOver) return result;
    // The worker has used some of the items only.
    const others = items.slice(used);
    const rest = isReduction ? [...results, ...others] : others;
    try {
      const [further, , , ...error] = await this.#call(bound, rest);
      return [isReduction ? further : [...results, ...further], NaN, items.length, ...error];
    } catch (error) {
      return [results, NaN, items.length, error];
    }
  }

  /** Makes a call for each item. */
  async #callEach({ single }: BoundCall, items: readonly unknown[]): Promise<ChunkResult> {
    const { isReduction, args } = this.#options;
    const results: unknown[] = isReduction ? [items[0]] : [];
    try {
      for (let at = results.length; at < items.length && !this.#isOver; at++) {
        if (isReduction) results[0] = await single(results[0], items[at], ...args);
        else results.push(await single(items[at], ...args));
      }
    } catch (error) {
      return [results, NaN, items.length, error];
    }
    return [results, NaN, items.length];
  }

  #settle(number: number, count: number, result: ChunkResult): void {
    this.#inFlight--;
    if (this.#isOver) return;
    if (this.#options.chunk === undefined && result.length === 3) this.#resize(count, result[1]);
    if (!this.#options.isOrdered) this.#deliver(result);
    else {
      this.#early.set(number, result);
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

  #deliver(result: ChunkResult): void {
    const [results] = result;
    const isFailed = result.length > 3;
    if (isFailed) this.#stop(result[3]); // before the results: taking the last ones would end the run
    if (results.length > 0) this.results.push(results, 0);
    else this.#open--;
    if (isFailed) this.results.fail(result[3]);
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
