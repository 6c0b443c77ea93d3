/** A stream among the arguments of a call, as its task reads it. What carries its items is the transport's. */
import { toReadableStream } from "./readable.ts";
import { StreamConsumer } from "../stream-consumer.ts";

/** What the reader asks of the side that has the items. */
export interface ArgumentRequests {
  /** Somebody waits for the first item. */
  begin(): void;
  /** All items of this many further batches were taken. */
  acknowledge(batches: number): void;
  /** The task wants no more items. `hasBegun`: it has asked for some. */
  cancel(hasBegun: boolean): void;
}

export interface ArgumentReader {
  readonly consumer: StreamConsumer;
  /** What the task gets: an async iterable, or a ReadableStream. */
  readonly value: object;
}

export function createArgumentReader(
  requests: ArgumentRequests,
  isReadable: boolean,
): ArgumentReader {
  let hasBegun = false;
  const consumer: StreamConsumer = new StreamConsumer({
    acknowledge: (batches) => requests.acknowledge(batches),
    cancel: () => {
      const had = hasBegun;
      hasBegun = true;
      requests.cancel(had);
    },
    onWaiting: (isWaiting) => {
      // A stream that was ended unread waits for nothing.
      if (!isWaiting || hasBegun || consumer.hasEnded) return;
      hasBegun = true;
      requests.begin();
    },
  });
  const reader = new StreamReader(consumer);
  return { consumer, value: isReadable ? toReadableStream(reader) : reader };
}

/** An async iterable that can be read once. */
class StreamReader implements AsyncIterableIterator<unknown, unknown, void> {
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
