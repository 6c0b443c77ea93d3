/** Streams as the kind that the web knows. */

/** What a ReadableStream is made of. */
interface Source {
  next(): Promise<IteratorResult<unknown, unknown>>;
  return(): Promise<unknown>;
}

/** A ReadableStream of the items of `source`, which is asked only when the stream is read. */
export function toReadableStream(source: Source): ReadableStream<unknown> {
  return new ReadableStream<unknown>({
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

/** Whether `value` is a ReadableStream, of any realm. */
export function isReadableStream(value: object): boolean {
  return Object.prototype.toString.call(value) === "[object ReadableStream]";
}
