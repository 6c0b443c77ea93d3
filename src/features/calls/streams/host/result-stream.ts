/** Results that are streams, as callers see them. docs/internals/streams.md explains the protocol. */
import { FinalizationRegistry, WeakRef } from "../../../../builtins.ts";
import { printAs } from "../../../../runtimes/printed.ts";
import type { StreamConsumer } from "../stream-consumer.ts";

/**
 * Cancels the streams whose handles were collected. A call in flight keeps its consumer; the registry must not, since what the
 * consumer refers to may refer to the handle: the stack of an error does.
 */
const collected = new FinalizationRegistry<WeakRef<StreamConsumer>>((consumer) =>
  consumer.deref()?.cancel()
);

/** The handle of what a consumer gets. */
export let createHandle: <Item, Return>(consumer: StreamConsumer) => ResultStream<Item, Return>;
/** Whether somebody has begun to read the stream. */
export let isRead: (stream: ResultStream<unknown, unknown>) => boolean;

/**
 * The items that a task yields: an async iterable for one reader. A call of a generator task returns it at once.
 *
 * The worker runs ahead by at most the task's `highWaterMark` items, or 1 MiB. Each item is a copy that belongs to the
 * reader. An error of the task arrives after the items before it.
 *
 * A stream that is not read does not keep the process running. It is cancelled if it is collected.
 *
 * @example
 * ```ts
 * for await (const row of pool.call.rows("users.csv")) {
 *   if (row.name === "Ada") break; // runs the `finally` blocks of the task
 * }
 * ```
 */
export class ResultStream<Item, Return = void>
  implements AsyncIterableIterator<Item, Return | undefined, void>, AsyncDisposable {
  static {
    createHandle = <Item, Return>(consumer: StreamConsumer) => new this<Item, Return>(consumer);
    isRead = (stream) => stream.#consumer.hasReader;
    printAs(this.prototype, (stream) => {
      if (!(#consumer in stream)) return "ResultStream";
      return stream.#consumer.hasReader
        ? "ResultStream (begun)"
        : "ResultStream (not read yet: read it by for await or toArray())";
    });
  }

  readonly #consumer: StreamConsumer;

  private constructor(consumer: StreamConsumer) {
    this.#consumer = consumer;
    collected.register(this, new WeakRef(consumer));
  }

  /**
   * What the generator of the task returned, once it has ended, which may be before its last items are read; undefined if
   * it was cancelled earlier. Rejects with the error that ended the stream.
   */
  get returned(): Promise<Return | undefined> {
    return this.#consumer.returned as Promise<Return | undefined>;
  }

  /** The next item. Rejects with the error that ended the stream, after the items before it. */
  next(): Promise<IteratorResult<Item, Return | undefined>> {
    return this.#consumer.next() as Promise<IteratorResult<Item, Return | undefined>>;
  }

  /**
   * Cancels the stream: the task's generator ends by its `return()`. Resolves when it has ended; rejects with what its
   * `finally` blocks throw then. Errors of items that were not read are those of `returned` alone.
   */
  return(value?: Return | PromiseLike<Return>): Promise<IteratorResult<Item, Return | undefined>> {
    return this.#consumer.return(value) as Promise<IteratorResult<Item, Return | undefined>>;
  }

  /** Cancels the stream, then rejects with `error`. */
  async throw(error?: unknown): Promise<IteratorResult<Item, Return | undefined>> {
    await this.#consumer.return();
    throw error;
  }

  /** All remaining items. */
  async toArray(): Promise<Item[]> {
    const items: Item[] = [];
    for (;;) {
      const batch = await this.#consumer.nextBatch();
      if (batch === undefined) return items;
      for (const item of batch) items.push(item as Item);
    }
  }

  /** The stream itself, which one reader can read once. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Cancels the stream, as `return()` does. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#consumer.return();
  }
}
