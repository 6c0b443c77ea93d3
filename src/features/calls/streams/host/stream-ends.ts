/** Both ends of a stream of results. */
import { Set, WeakRef } from "../../../../builtins.ts";
import { createHandle, type ResultStream } from "./result-stream.ts";
import { type ConsumerOptions, StreamConsumer } from "../stream-consumer.ts";

/**
 * Creates both ends of a stream: `consumer` gets its items, `handle` is for the caller. `link`: what its reader asks of the side that
 * has the items.
 */
export function createResultStream(link: ConsumerOptions): {
  readonly consumer: StreamConsumer;
  readonly handle: ResultStream<unknown, unknown>;
} {
  /** The handle while somebody waits for it, so that it is not collected. */
  const waiting = new Set<ResultStream<unknown, unknown> | undefined>();
  const consumer: StreamConsumer = new StreamConsumer({
    acknowledge: (batches) => link.acknowledge(batches),
    cancel: () => link.cancel(),
    onWaiting: (isWaiting) => {
      if (isWaiting) waiting.add(weakHandle.deref());
      else waiting.clear();
      link.onWaiting?.(isWaiting);
    },
  });
  const handle = createHandle<unknown, unknown>(consumer);
  const weakHandle = new WeakRef(handle);
  return { consumer, handle };
}
