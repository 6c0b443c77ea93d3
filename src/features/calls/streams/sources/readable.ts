/** ReadableStream conversion. */
import { lazy } from "../../../../builtins.ts";

/** What a ReadableStream is made of. */
interface Source {
  next(): Promise<IteratorResult<unknown, unknown>>;
  return(): Promise<unknown>;
}

/** A ReadableStream of the items of `source`, which is asked only when the stream is read. */
export function toReadableStream(source: Source): ReadableStream<unknown> {
  return new (lazy.readableStream())<unknown>({
    async pull(controller) {
      const { done, value } = await source.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await source.return();
    },
  }, { highWaterMark: 0 });
}

/**
 * An iterator of a ReadableStream, which it locks. The stream's own iterator queues `return()` behind a `next()`; this one
 * cancels a stream that waits for its next item.
 */
export function iterateReadable(
  stream: ReadableStream<unknown>,
): { next(): Promise<unknown>; return(): Promise<unknown> } {
  const reader = stream.getReader();
  return {
    async next() {
      let isOver = true;
      try {
        const result = await reader.read();
        isOver = result.done;
        return result;
      } finally {
        if (isOver) reader.releaseLock();
      }
    },
    async return() {
      const ended = reader.cancel();
      reader.releaseLock();
      await ended;
    },
  };
}

/** Whether `value` is a ReadableStream, of any realm. */
export function isReadableStream(value: object): boolean {
  return tagOf(value) === "[object ReadableStream]";
}

/** The kind of an object, as `Object.prototype.toString` tells; empty if its getter throws. */
export function tagOf(value: object): string {
  try {
    return Object.prototype.toString.call(value);
  } catch {
    return ""; // none of the kinds that are looked for
  }
}
