/**
 * What a call of a remote task returns: a promise of the result that can be read as a stream as well, because the caller
 * does not know which tasks are generators.
 */
import { Promise } from "../../builtins.ts";
import type { ResultStream } from "../../features/calls/streams/host/result-stream.ts";

/** The call behind a result. */
export interface ResultSource {
  openStream(): ResultStream<unknown, unknown>;
}

type Settle = (value: unknown) => void;

export class RemoteResult extends Promise<unknown> {
  #source: ResultSource | undefined;
  #handle: ResultStream<unknown, unknown> | undefined;

  /** What follows it is an ordinary promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  constructor(executor: (resolve: Settle, reject: Settle) => void) {
    super(executor);
  }

  attach(source: ResultSource): void {
    this.#source = source;
  }

  /** The stream, once it has begun. The result holds it from now on, and the call does not. */
  adopt(handle: ResultStream<unknown, unknown>): void {
    this.#handle = handle;
  }

  /** For who takes either: the value, or the stream if the task is a generator function. */
  valueOrStream(): Promise<unknown> {
    return this.then(undefined, (reason) => {
      if (this.#handle === undefined) throw reason;
      return this.#handle;
    });
  }

  [Symbol.asyncIterator](): ResultStream<unknown, unknown> {
    return this.#stream();
  }

  next(): Promise<IteratorResult<unknown, unknown>> {
    return this.#stream().next();
  }

  return(value?: unknown): Promise<IteratorResult<unknown, unknown>> {
    return this.#stream().return(value);
  }

  throw(error?: unknown): Promise<IteratorResult<unknown, unknown>> {
    return this.#stream().throw(error);
  }

  toArray(): Promise<unknown[]> {
    return this.#stream().toArray();
  }

  get returned(): Promise<unknown> {
    return this.#stream().returned;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stream()[Symbol.asyncDispose]();
  }

  #stream(): ResultStream<unknown, unknown> {
    this.catch(() => {}); // the reader gets the error
    return this.#handle ??= this.#source!.openStream();
  }
}
