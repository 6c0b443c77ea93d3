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
import { isReadableStream, iterateReadable } from "./readable.ts";

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

export class StreamProducer {
  readonly #options: ProducerOptions;
  readonly #iterator: AnyIterator;
  readonly #writer: BatchWriter;
  /** Items and bytes of batches sent and not acknowledged, and of the open batch. */
  #items = 0;
  #bytes = 0;
  /** The sent ones, in order. */
  readonly #unread: { readonly items: number; readonly bytes: number }[] = [];
  #batchItems = 0;
  #batchBytes = 0;
  #sliceStartMs = 0;
  #takenInSlice = 0;
  #isRunning = false;
  /** A `next()` of the iterator has not settled. */
  #isAwaitingNext = false;
  #isPaused = false;
  #isScheduled = false;
  #isSendScheduled = false;
  #isCancelled = false;
  #isClosing = false;
  #isOver = false;

  constructor(options: ProducerOptions) {
    this.#options = options;
    this.#iterator = options.iterator;
    this.#writer = options.writer;
  }

  /** Begins to ask for items. The caller runs it as it runs slices. */
  start(): void {
    this.#beginSlice();
    this.#pump();
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
    if (
      !this.#isOver && !this.#isClosing && !this.#isRunning && !this.#isAwaitingNext && this.#mayAsk
    ) {
      this.#schedule();
    }
  }

  /** Whether `cancel` was called. */
  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** The consumer wants no more: ends the iterator by `return()`, and then the stream. */
  cancel(): void {
    if (this.#isOver || this.#isCancelled) return;
    this.#isCancelled = true;
    this.#pause(false);
    this.#dropBatch();
    if (!this.#isRunning) this.#options.run(() => this.#close(false, undefined));
  }

  get #mayAsk(): boolean {
    return this.#items < this.#options.highWaterMark && this.#bytes < MAX_UNREAD_BYTES &&
      !this.#writer.isFull;
  }

  #beginSlice(): void {
    this.#sliceStartMs = this.#options.now();
    this.#takenInSlice = 0;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#pause(false);
    this.#options.macrotask(() =>
      this.#options.run(() => {
        this.#isScheduled = false;
        this.#beginSlice();
        this.#pump();
      })
    );
  }

  /** Asks for items until the iterator has to be awaited, credit or room is used up, or the slice is over. */
  #pump(): void {
    if (this.#isOver || this.#isClosing || this.#isAwaitingNext) return;
    while (this.#mayAsk) {
      if (this.#isSliceOver()) {
        if (this.#send()) this.#schedule();
        return;
      }
      let result: unknown;
      this.#isRunning = true;
      try {
        result = this.#iterator.next();
        if (isThenable(result)) {
          this.#isRunning = false;
          this.#awaitNext(result);
          return;
        }
      } catch (error) {
        this.#finish(true, error);
        return;
      } finally {
        this.#isRunning = false;
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

  #awaitNext(result: PromiseLike<unknown>): void {
    if (!this.#isCancelled) {
      this.#await(result, (settled) => this.#take(settled), (error) => this.#finish(true, error));
      return;
    }
    // It was cancelled by its own iterator, and the promise may never settle.
    Promise.resolve(result).catch(() => {});
    this.#close(false, undefined);
  }

  #isSliceOver(): boolean {
    if (++this.#takenInSlice % CLOCK_STRIDE !== 0) return false;
    return this.#options.now() - this.#sliceStartMs >= SLICE_MS;
  }

  /** Takes what `next()` returned or resolved to. False: the stream does not go on from here. */
  #take(result: unknown): boolean {
    if (this.#isCancelled) {
      this.#close(false, undefined);
      return false;
    }
    if (typeof result !== "object" || result === null) {
      this.#finish(true, new TypeError(`Iterator result ${String(result)} is not an object.`));
      return false;
    }
    try {
      const { done, value } = result as IteratorResult<unknown>;
      if (done === true) {
        this.#finishWith(value);
        return false;
      }
      if (isThenable(value)) {
        this.#await(value, (item) => this.#add(item), (error) => this.#close(true, error));
        return false;
      }
      return this.#add(value);
    } catch (error) {
      this.#close(true, error);
      return false;
    }
  }

  /** Adds an item to the batch. False as `#take`. */
  #add(item: unknown): boolean {
    this.#isRunning = true;
    let bytes: number;
    try {
      bytes = this.#writer.add(item);
      if (bytes === NEEDS_OWN_BATCH) {
        if (!this.#send()) return false;
        bytes = this.#writer.add(item);
      }
    } catch (error) {
      this.#close(true, error);
      return false;
    } finally {
      this.#isRunning = false;
    }
    if (this.#isCancelled) {
      this.#dropBatch();
      this.#close(false, undefined);
      return false;
    }
    this.#items++;
    this.#batchItems++;
    this.#bytes += bytes - this.#batchBytes;
    this.#batchBytes = bytes;
    return this.#batchItems < BATCH_ITEMS && bytes < BATCH_BYTES || this.#send();
  }

  /** Goes on when a promise of the iterator, or of an item, has settled. Meanwhile the batch is sent. */
  #await(
    promise: PromiseLike<unknown>,
    take: (value: unknown) => boolean,
    fail: (error: unknown) => void,
  ): void {
    this.#isAwaitingNext = true;
    if (this.#batchItems > 0) this.#sendSoon();
    const settle = (onSettled: () => void): void => {
      this.#options.run(() => {
        this.#isAwaitingNext = false;
        if (!this.#isOver && !this.#isClosing) onSettled();
      });
    };
    Promise.resolve(promise).then(
      (value) => settle(() => take(value) && this.#pump()),
      (error) => settle(() => fail(error)),
    );
  }

  /** Sends the batch in the next turn of the event loop: the iterator may have more items until then. */
  #sendSoon(): void {
    if (this.#isSendScheduled) return;
    this.#isSendScheduled = true;
    this.#options.macrotask(() =>
      this.#options.run(() => {
        this.#isSendScheduled = false;
        this.#beginSlice();
        if (!this.#isOver) this.#send();
      })
    );
  }

  /** Sends the batch. False: that failed, and the stream ends. */
  #send(): boolean {
    if (this.#batchItems === 0) return true;
    const bytes = this.#batchBytes;
    this.#unread.push({ items: this.#batchItems, bytes });
    this.#batchItems = this.#batchBytes = 0;
    try {
      this.#writer.send(bytes);
      return !this.#isOver && !this.#isClosing; // sending may have cancelled it
    } catch (error) {
      this.#close(true, error);
      return false;
    }
  }

  #dropBatch(): void {
    this.#items -= this.#batchItems;
    this.#bytes -= this.#batchBytes;
    this.#batchItems = this.#batchBytes = 0;
    this.#writer.discard();
  }

  /** Calls `return()` of the iterator, then ends the stream: by `error` if `isThrown`. */
  #close(isThrown: boolean, error: unknown): void {
    if (this.#isOver || this.#isClosing) return;
    if (!this.#isCancelled && !this.#send()) return;
    this.#isClosing = true;
    const finish = (hasFailed: boolean, reason: unknown): void => {
      if (isThrown) this.#finish(true, error);
      else this.#finish(hasFailed, reason, hasFailed);
    };
    let ended: Promise<unknown> | undefined;
    try {
      const result = this.#iterator.return?.();
      if (isThenable(result)) ended = Promise.resolve(result);
    } catch (reason) {
      finish(true, reason);
      return;
    }
    if (ended === undefined) finish(false, undefined);
    else {
      ended.then(
        () => this.#options.run(() => finish(false, undefined)),
        (reason) => this.#options.run(() => finish(true, reason)),
      );
    }
  }

  /** The iterator has returned `value`: a promise of a synchronous one is awaited, as by `for await`. */
  #finishWith(value: unknown): void {
    if (!isThenable(value)) {
      this.#finish(false, value);
      return;
    }
    const finish = (isThrown: boolean, settled: unknown): false => {
      this.#finish(isThrown, settled);
      return false;
    };
    this.#await(value, (settled) => finish(false, settled), (error) => void finish(true, error));
  }

  #finish(isThrown: boolean, value: unknown, isOfReturn = false): void {
    if (this.#isOver) return;
    if (!this.#isClosing && !this.#send()) return;
    this.#isOver = true;
    this.#pause(false);
    this.#options.onEnd(isThrown, value, isOfReturn);
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
