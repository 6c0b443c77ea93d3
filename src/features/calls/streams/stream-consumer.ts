/**
 * The side of a stream that reads it: a queue of the batches that have arrived. It acknowledges batches when their
 * items have been taken. docs/internals/streams.md explains the protocol.
 */
import { Promise } from "../../../builtins.ts";
import { HIGH_WATER_MARK, MAX_UNREAD_BYTES } from "./limits.ts";

interface Batch {
  readonly items: readonly unknown[];
  readonly bytes: number;
}

interface Waiter {
  readonly resolve: (result: IteratorResult<unknown, unknown>) => void;
  readonly reject: (reason: unknown) => void;
}

export interface ConsumerOptions {
  /** Sends credit: all items of this many further batches have been taken. */
  readonly acknowledge: (batches: number) => void;
  /** Asks the producer to end. It answers by `end` or `fail`. */
  readonly cancel: () => void;
  /** Whether a `next()` waits for an item from now on. */
  readonly onWaiting?: (isWaiting: boolean) => void;
}

type Outcome = { readonly value: unknown } | { readonly reason: unknown };

const NONE: readonly unknown[] = [];

export class StreamConsumer {
  /** The producer's limit of items sent and not acknowledged. */
  highWaterMark: number = HIGH_WATER_MARK;
  readonly #options: ConsumerOptions;
  /** The batch that is being read, and the index of its next item. */
  #items: readonly unknown[] = NONE;
  #at = 0;
  #bytes = 0;
  readonly #queue: Batch[] = [];
  readonly #waiters: Waiter[] = [];
  /** Batches taken and not acknowledged yet, with their items and bytes. */
  #takenBatches = 0;
  #takenItems = 0;
  #takenBytes = 0;
  /** Items of all batches taken. */
  #total = 0;
  #outcome: Outcome | undefined;
  /** The outcome was given to the reader. */
  #isDone = false;
  #isCancelled = false;
  /** The outcome is an error that a reader which cancels does not get. */
  #isEndUnwanted = false;
  readonly #returned: PromiseWithResolvers<unknown> = Promise.withResolvers();

  constructor(options: ConsumerOptions) {
    this.#options = options;
    this.#returned.promise.catch(() => {}); // only those who ask for it need to handle it
  }

  /** What the iterator returned; rejects with the error that ended it. */
  get returned(): Promise<unknown> {
    return this.#returned.promise;
  }

  get isWaiting(): boolean {
    return this.#waiters.length > 0;
  }

  /** Items that the reader has taken. */
  get taken(): number {
    return this.#total + this.#at;
  }

  /** Whether somebody has begun to read. */
  get hasReader(): boolean {
    return this.isWaiting || this.#isDone || this.taken > 0;
  }

  /** Whether the reader wants no more items. */
  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** Whether the producer has ended. */
  get hasEnded(): boolean {
    return this.#outcome !== undefined;
  }

  /** A batch has arrived. Runs no user code. */
  push(items: readonly unknown[], bytes: number): void {
    if (this.#isCancelled || this.hasEnded || items.length === 0) return;
    this.#queue.push({ items, bytes });
    while (this.#waiters.length > 0 && this.#hasItem()) {
      const waiter = this.#waiters.shift()!;
      if (this.#waiters.length === 0) this.#options.onWaiting?.(false);
      waiter.resolve({ done: false, value: this.#take() });
    }
  }

  /** The iterator is done. */
  end(value: unknown): void {
    this.#settle({ value });
    this.#returned.resolve(value);
  }

  /**
   * The stream failed. Items that have arrived are read first. `isOfNext`: by asking the iterator for items, or by an item: a
   * reader that wanted no more of them is not told.
   */
  fail(reason: unknown, isOfNext = false): void {
    if (!this.hasEnded) this.#isEndUnwanted = isOfNext;
    this.#settle({ reason });
    this.#returned.reject(reason);
  }

  /** Forgets the items that have arrived. */
  drop(): void {
    this.#queue.length = 0;
    this.#items = NONE;
    this.#at = 0;
  }

  next(): Promise<IteratorResult<unknown, unknown>> {
    if (this.#at < this.#items.length || this.#hasItem()) {
      return Promise.resolve({ done: false, value: this.#take() });
    }
    if (this.#isDone || this.#isCancelled) return Promise.resolve({ done: true, value: undefined });
    const outcome = this.#outcome;
    if (outcome !== undefined) {
      this.#isDone = true;
      return "reason" in outcome
        ? Promise.reject(outcome.reason)
        : Promise.resolve({ done: true, value: outcome.value });
    }
    const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<unknown, unknown>>();
    this.#waiters.push({ resolve, reject });
    if (this.#waiters.length === 1) this.#options.onWaiting?.(true);
    return promise;
  }

  /** All items that have arrived of the oldest batch, or of the next to arrive; undefined at the end. */
  async nextBatch(): Promise<readonly unknown[] | undefined> {
    if (!this.#hasItem()) {
      const { done, value } = await this.next();
      return done === true ? undefined : [value, ...this.#takeRest()];
    }
    return this.#takeRest();
  }

  #takeRest(): readonly unknown[] {
    const rest = this.#at === 0 ? this.#items : this.#items.slice(this.#at);
    if (rest.length === 0) return rest;
    this.#at = this.#items.length;
    this.#onTaken();
    return rest;
  }

  /** Wants no more items. Resolves when the iterator has ended; rejects with what its `return()` throws, or if it is lost. */
  async return(value?: unknown): Promise<IteratorResult<unknown, unknown>> {
    this.cancel();
    if (!this.#isDone) {
      this.#options.onWaiting?.(true);
      try {
        await this.#returned.promise;
      } catch (error) {
        if (!this.#isEndUnwanted) throw error;
      } finally {
        this.#isDone = true;
        this.#options.onWaiting?.(false);
      }
    }
    return { done: true, value };
  }

  /** Wants no more items. */
  cancel(): void {
    this.drop();
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    if (this.hasEnded) {
      this.#isDone = true; // its outcome has not been asked for, as in one thread
      return;
    }
    for (const { resolve } of this.#waiters.splice(0)) resolve({ done: true, value: undefined });
    this.#options.cancel();
  }

  #settle(outcome: Outcome): void {
    if (this.hasEnded) return;
    this.#outcome = outcome;
    const waiters = this.#waiters.splice(0);
    if (waiters.length > 0) this.#options.onWaiting?.(false);
    for (const { resolve, reject } of waiters) {
      // The first one gets the outcome, the others are behind the end.
      if (this.#isDone || this.#isCancelled) resolve({ done: true, value: undefined });
      else if ("reason" in outcome) reject(outcome.reason);
      else resolve({ done: true, value: outcome.value });
      this.#isDone = true;
    }
  }

  /** Whether an item is there. Moves on to the next batch if there is one. */
  #hasItem(): boolean {
    if (this.#at < this.#items.length) return true;
    const batch = this.#queue.shift();
    if (batch === undefined) return false;
    this.#items = batch.items;
    this.#bytes = batch.bytes;
    this.#at = 0;
    return true;
  }

  #take(): unknown {
    const item = this.#items[this.#at++];
    if (this.#at === this.#items.length) this.#onTaken();
    return item;
  }

  /** All items of a batch have been taken. */
  #onTaken(): void {
    this.#takenBatches++;
    this.#takenItems += this.#items.length;
    this.#total += this.#items.length;
    this.#takenBytes += this.#bytes;
    this.#items = NONE;
    this.#at = 0;
    if (this.hasEnded) return;
    if (
      2 * this.#takenItems >= this.highWaterMark ||
      2 * this.#takenBytes >= MAX_UNREAD_BYTES
    ) {
      const batches = this.#takenBatches;
      this.#takenBatches = this.#takenItems = this.#takenBytes = 0;
      this.#options.acknowledge(batches);
    }
  }
}
