/**
 * Opens the streams that are arguments or results of calls. An argument is opened when the call takes it, and not when its
 * first item is wanted: an emitter loses what it emits before somebody listens, and an "error" event without a listener ends
 * the process.
 */
import { Promise, WeakSet } from "../../../../builtins.ts";
import { InvalidArgumentError } from "../../../../errors.ts";
import { isReadableStream } from "./readable.ts";
import { isThenable } from "../../../../protocol/is-thenable.ts";
import { type AnyIterator, iteratorOf } from "../stream-producer.ts";
import { isStreamable } from "../../../../protocol/is-streamable.ts";

/** An emitter whose items can be iterated: a stream of Node, or a readline interface. */
interface Emitter {
  on(event: "error", listener: (error: unknown) => void): unknown;
  removeListener?(event: "error", listener: (error: unknown) => void): unknown;
  /** Of a stream. */
  destroy?(): unknown;
  /** Of a readline interface. */
  close?(): unknown;
}

/** Iterators, and emitters, that a call has taken. An iterable gives each call an iterator of its own. */
const taken = new WeakSet<object>();

/**
 * The iterator of a streamable value, which `return()` ends at any time. Runs user code, and rethrows what that throws. Throws
 * InvalidArgumentError if another call reads it.
 */
export function openIterator(value: object): AnyIterator {
  if (taken.has(value)) throw takenTwice();
  if (isEmitter(value)) {
    taken.add(value);
    return new EmitterSource(value);
  }
  const iterator = iteratorOf(value)!;
  if (iterator === value) taken.add(value);
  return iterator;
}

function takenTwice(): InvalidArgumentError {
  return new InvalidArgumentError(
    "A call takes a stream or an iterator that another call has taken: its items would be spread over both. " +
      "Make one for each call.",
  );
}

/** The same; an error of opening it is an error of its first item, unless another call has taken it. */
export function openSource(value: object): AnyIterator {
  if (taken.has(value)) throw takenTwice();
  try {
    return openIterator(value);
  } catch (error) {
    return {
      next() {
        throw error;
      },
    };
  }
}

/** Ends a source that nobody reads. Its errors have no reader either. Runs user code. */
export function endSource(source: AnyIterator): void {
  try {
    const ended = source.return?.();
    if (isThenable(ended)) Promise.resolve(ended).catch(() => {});
  } catch {
    // It has ended in its own way.
  }
}

/** Ends the streams among the arguments of a call that is refused. */
export function endStreams(args: readonly unknown[]): void {
  for (const value of args) {
    if (isStreamable(value) && mustEnd(value)) endSource(openSource(value));
  }
}

/** Other iterables hold nothing before they are opened. Promises may have the methods of a stream as well. */
function mustEnd(value: object): boolean {
  try {
    if (isThenable(value) || taken.has(value)) return false;
    return isEmitter(value) || isReadableStream(value) ||
      typeof (value as Partial<AnyIterator>).next === "function";
  } catch {
    return false; // it cannot be looked at
  }
}

function isEmitter(value: object): value is Emitter {
  return typeof (value as Partial<Emitter>).on === "function";
}

class EmitterSource implements AnyIterator {
  readonly #emitter: Emitter;
  readonly #iterator: AnyIterator;
  #isRead = false;
  /** The error that was emitted before the first item was asked for. */
  #failure: { readonly error: unknown } | undefined;

  readonly #onError = (error: unknown): void => {
    if (!this.#isRead) this.#failure ??= { error };
  };

  constructor(emitter: Emitter) {
    this.#emitter = emitter;
    emitter.on("error", this.#onError);
    this.#iterator = iteratorOf(emitter)!;
  }

  next(): unknown {
    if (this.#failure !== undefined) {
      const { error } = this.#failure;
      this.#failure = undefined;
      this.#isRead = true;
      throw error;
    }
    this.#isRead = true;
    return this.#iterator.next();
  }

  /**
   * Ends the emitter as well. The iterator of a stream does so only if it has been read, and waits for its pending `next()`, which
   * may take forever. An emitter with `destroy` or `close` may emit an error later, so it keeps its listener.
   */
  return(): unknown {
    const { destroy, close } = this.#emitter;
    if (typeof destroy === "function") destroy.call(this.#emitter);
    const ended = this.#iterator.return?.();
    if (typeof destroy === "function") return ended;
    if (typeof close !== "function") {
      this.#emitter.removeListener?.("error", this.#onError);
      return ended;
    }
    const closed = close.call(this.#emitter);
    return isThenable(closed) ? Promise.all([ended, closed]).then(([result]) => result) : ended;
  }
}
