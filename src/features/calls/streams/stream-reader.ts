/** A stream as its reader sees it: an async iterable that can be read once. */
import type { StreamConsumer } from "./stream-consumer.ts";

export class StreamReader implements AsyncIterableIterator<unknown, unknown, void> {
  readonly #consumer: StreamConsumer;

  constructor(consumer: StreamConsumer) {
    this.#consumer = consumer;
  }

  next(): Promise<IteratorResult<unknown, unknown>> {
    return this.#consumer.next();
  }

  return(value?: unknown): Promise<IteratorResult<unknown, unknown>> {
    return this.#consumer.return(value);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#consumer.return();
  }
}
