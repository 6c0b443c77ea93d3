/**
 * The side of a stream that has its iterator: asks it for items while the consumer's credit lasts, and sends them in
 * batches. docs/internals/streams.md explains the protocol.
 *
 * The iterator is user code: it may throw anywhere, and may call `cancel` of its own stream.
 */
import { HANDLE } from "../../../realm/handles.ts";
import { Promise, TypeError } from "../../../builtins.ts";
import { isThenable } from "../../../protocol/is-thenable.ts";
import { BATCH_BYTES, BATCH_ITEMS, MAX_UNREAD_BYTES, SLICE_MS } from "./limits.ts";
import { isReadableStream, iterateReadable } from "./sources/readable.ts";

/** An iterator of either kind. */
export interface AnyIterator {
  next(): unknown;
  return?(...args: never[]): unknown;
}

/** Where the items go. */
export interface BatchWriter {
  /**
   * Encodes an item into the open batch; returns the bytes of the batch, or NEEDS_OWN_BATCH: the item must be the first
   * of its batch. Throws if it cannot be cloned.
   */
  add(item: unknown): number;
  /** Sends the open batch, of this many bytes. Throws if an object in it cannot be moved. */
  send(bytes: number): void;
  /** Forgets the open batch. */
  discard(): void;
  /** Whether nothing can be sent for now. Its owner calls `resume` later. */
  readonly isFull: boolean;
}

export interface ProducerOptions {
  readonly iterator: AnyIterator;
  readonly writer: BatchWriter;
  readonly highWaterMark: number;
  readonly now: () => number;
  readonly macrotask: (callback: () => void) => void;
  /** Runs a slice of the work that was not called by the owner. */
  readonly run: (slice: () => void) => void;
  /** The stream waits for credit or room, or goes on. */
  readonly onPause: (isPaused: boolean) => void;
  /**
   * Called once, when everything has been sent or the stream was cancelled and its iterator has ended. `isOfReturn`: the iterator
   * threw `value` when it was cancelled, by its `return()`.
   */
  readonly onEnd: (isThrown: boolean, value: unknown, isOfReturn: boolean) => void;
}

/** An object that a port carries is sent alone, so that it fails no other items. */
export const NEEDS_OWN_BATCH = -1;

/** Items between two readings of the clock. */
const CLOCK_STRIDE = 32;

/** It may be asked for its next item. */
const IDLE = 0;
/** An item is asked for, or encoded. User code may be on the stack. */
const RUNNING = 1;
/** A promise of the iterator, or of an item, has not settled. */
const AWAITING = 2;
/** The iterator ends by its `return()`. */
const CLOSING = 3;
const OVER = 4;

export class StreamProducer {
  readonly #options: ProducerOptions;
  #phase = IDLE;
  /** Items and bytes of batches sent and not acknowledged, and of the open batch. */
  #items = 0;
  #bytes = 0;
  /** The sent ones, in order. */
  readonly #unread: { readonly items: number; readonly bytes: number }[] = [];
  #batchItems = 0;
  #batchBytes = 0;
  #sliceStartMs = 0;
  #takenInSlice = 0;
  #isPaused = false;
  #isScheduled = false;
  #isCancelled = false;

  constructor(options: ProducerOptions) {
    this.#options = options;
  }

  /** Begins to ask for items, or goes on. The caller runs it as it runs slices. */
  start(): void {
    this.#sliceStartMs = this.#options.now();
    this.#takenInSlice = 0;
    if (this.#phase === IDLE) this.#pump();
    else if (this.#phase === AWAITING) this.#send();
  }

  /** The consumer has taken all items of this many further batches. */
  acknowledge(batches: number): void {
    for (const { items, bytes } of this.#unread.splice(0, batches)) {
      this.#items -= items;
      this.#bytes -= bytes;
    }
    this.resume();
  }

  /** There may be credit or room again. */
  resume(): void {
    if (this.#phase === IDLE && this.#mayAsk) this.#startLater();
  }

  /** Whether `cancel` was called. */
  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** The consumer wants no more: ends the iterator by `return()`, and then the stream. */
  cancel(): void {
    if (this.#phase === OVER || this.#isCancelled) return;
    this.#isCancelled = true;
    this.#pause(false);
    this.#dropBatch();
    if (this.#phase !== RUNNING) this.#options.run(() => this.#close(false, undefined));
  }

  get #mayAsk(): boolean {
    const { highWaterMark, writer } = this.#options;
    return this.#items < highWaterMark && this.#bytes < MAX_UNREAD_BYTES && !writer.isFull;
  }

  #startLater(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#pause(false);
    const { macrotask, run } = this.#options;
    macrotask(() =>
      run(() => {
        this.#isScheduled = false;
        this.start();
      })
    );
  }

  /** Asks for items until the iterator has to be awaited, credit or room is used up, or the slice is over. */
  #pump(): void {
    while (this.#mayAsk) {
      if (this.#isSliceOver()) {
        if (this.#send()) this.#startLater();
        return;
      }
      this.#phase = RUNNING;
      let result: unknown;
      try {
        result = this.#options.iterator.next();
        if (isThenable(result)) {
          this.#await(
            result,
            (settled) => this.#take(settled),
            (error) => this.#finish(true, error),
          );
          return;
        }
      } catch (error) {
        this.#finish(true, error);
        return;
      }
      if (!this.#take(result)) return;
    }
    if (this.#send()) this.#pause(true);
  }

  #pause(isPaused: boolean): void {
    if (this.#isPaused === isPaused) return;
    this.#isPaused = isPaused;
    this.#options.onPause(isPaused);
  }

  #isSliceOver(): boolean {
    if (++this.#takenInSlice % CLOCK_STRIDE !== 0) return false;
    return this.#options.now() - this.#sliceStartMs >= SLICE_MS;
  }

  /** Takes what `next()` returned or resolved to. False: the stream does not go on from here. */
  #take(result: unknown): boolean {
    if (this.#isCancelled) return this.#close(false, undefined);
    if (typeof result !== "object" || result === null) {
      const error = new TypeError(`Iterator result ${String(result)} is not an object.`);
      return this.#finish(true, error);
    }
    try {
      const { done, value } = result as IteratorResult<unknown>;
      const isPromise = isThenable(value); // of a synchronous iterator, which is awaited as by `for await`
      if (done === true) {
        if (!isPromise) return this.#finish(false, value);
        const finish = (isThrown: boolean) => (settled: unknown) => this.#finish(isThrown, settled);
        return this.#await(value, finish(false), finish(true));
      }
      if (!isPromise) return this.#add(value);
      return this.#await(
        value,
        (item) => this.#add(item),
        (error) => this.#close(true, error),
      );
    } catch (error) {
      return this.#close(true, error);
    }
  }

  /** Adds an item to the batch. False as `#take`. */
  #add(item: unknown): boolean {
    const { writer } = this.#options;
    let bytes: number;
    try {
      bytes = writer.add(item);
      if (bytes === NEEDS_OWN_BATCH) {
        if (!this.#send()) return false;
        bytes = writer.add(item);
      }
    } catch (error) {
      return this.#close(true, error);
    }
    if (this.#isCancelled) {
      this.#dropBatch();
      return this.#close(false, undefined);
    }
    this.#phase = IDLE;
    this.#items++;
    this.#batchItems++;
    this.#bytes += bytes - this.#batchBytes;
    this.#batchBytes = bytes;
    return this.#batchItems < BATCH_ITEMS && bytes < BATCH_BYTES || this.#send();
  }

  /** Goes on when a promise has settled. Meanwhile the batch is sent, soon: the iterator may have more items until then. */
  #await(
    promise: PromiseLike<unknown>,
    take: (value: unknown) => boolean,
    fail: (error: unknown) => void,
  ): false {
    if (this.#isCancelled) {
      // By its own iterator, and the promise may never settle.
      Promise.resolve(promise).catch(() => {});
      return this.#close(false, undefined);
    }
    this.#phase = AWAITING;
    if (this.#batchItems > 0) this.#startLater();
    const settle = (onSettled: () => void): void =>
      this.#options.run(() => {
        if (this.#phase !== AWAITING) return;
        this.#phase = RUNNING;
        onSettled();
      });
    Promise.resolve(promise).then(
      (value) => settle(() => take(value) && this.#pump()),
      (error) => settle(() => fail(error)),
    );
    return false;
  }

  /** Sends the batch. False: that failed, and the stream ends. */
  #send(): boolean {
    if (this.#batchItems === 0) return true;
    const bytes = this.#batchBytes;
    this.#unread.push({ items: this.#batchItems, bytes });
    this.#batchItems = this.#batchBytes = 0;
    try {
      this.#options.writer.send(bytes);
      return this.#phase < CLOSING; // sending may have cancelled it
    } catch (error) {
      return this.#close(true, error);
    }
  }

  #dropBatch(): void {
    this.#items -= this.#batchItems;
    this.#bytes -= this.#batchBytes;
    this.#batchItems = this.#batchBytes = 0;
    this.#options.writer.discard();
  }

  /** Calls `return()` of the iterator, then ends the stream: by `error` if `isThrown`. */
  #close(isThrown: boolean, error: unknown): false {
    if (this.#phase >= CLOSING || !this.#isCancelled && !this.#send()) return false;
    this.#phase = CLOSING;
    const { iterator, run } = this.#options;
    const finish = (hasFailed: boolean, reason: unknown): false =>
      isThrown ? this.#finish(true, error) : this.#finish(hasFailed, reason, hasFailed);
    let ended: Promise<unknown> | undefined;
    try {
      const result = iterator.return?.();
      if (isThenable(result)) ended = Promise.resolve(result);
    } catch (reason) {
      return finish(true, reason);
    }
    if (ended === undefined) return finish(false, undefined);
    ended.then(
      () => run(() => finish(false, undefined)),
      (reason) => run(() => finish(true, reason)),
    );
    return false;
  }

  #finish(isThrown: boolean, value: unknown, isOfReturn = false): false {
    if (this.#phase === OVER || this.#phase !== CLOSING && !this.#send()) return false;
    this.#phase = OVER;
    this.#pause(false);
    this.#options.onEnd(isThrown, value, isOfReturn);
    return false;
  }
}

/** The iterator of an async iterable, or an iterator itself; undefined for anything else. Runs user code. */
export function iteratorOf(value: unknown): AnyIterator | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (isReadableStream(value) && "getReader" in value) {
    return iterateReadable(value as ReadableStream<unknown>);
  }
  const open = (value as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator];
  if (Object.hasOwn(value, HANDLE)) return undefined;
  if (typeof open === "function") return open.call(value) as unknown as AnyIterator;
  const isIterator = typeof (value as Partial<AnyIterator>).next === "function" &&
    typeof (value as Partial<Iterable<unknown>>)[Symbol.iterator] === "function";
  return isIterator ? value as AnyIterator : undefined;
}
