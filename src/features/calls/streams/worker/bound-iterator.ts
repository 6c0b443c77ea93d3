/** The code of a generator runs when its items are wanted, and then needs the asynchronous context of its call. */
import { type AnyIterator, iteratorOf } from "../stream-producer.ts";

type RunInContext = <Result>(f: () => Result) => Result;

/** An iterable whose code runs in a context; anything else unchanged. `bind` gets that context. */
export function bindIterator(value: unknown, bind: () => RunInContext): unknown {
  const iterator = iteratorOf(value as object);
  if (iterator === undefined) return value;
  const inContext = bind();
  const bound: AnyIterator & AsyncIterable<unknown> = {
    next: () => inContext(() => iterator.next()),
    return: (...args) => inContext(() => iterator.return?.(...args)),
    [Symbol.asyncIterator]: () => bound as unknown as AsyncIterator<unknown>,
  };
  return bound;
}
