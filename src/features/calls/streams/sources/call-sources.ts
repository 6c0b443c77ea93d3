/** The streams among the arguments of one call, on the side of its caller. What sends their items is the transport's. */
import type { Runtime } from "../../../../runtimes/runtime.ts";
import { endSource } from "./open-source.ts";
import type { AnyIterator } from "../stream-producer.ts";

export interface CallSourcesOptions<Sender> {
  readonly runtime: Pick<Runtime, "microtask" | "bindContext">;
  /** Creates the sender of stream `index`, which its reader has asked for. `run` runs user code in the context of the call. */
  readonly open: (index: number, source: AnyIterator, run: (work: () => void) => void) => Sender;
  /** Ends a sender whose call is over. Runs user code. */
  readonly end: (sender: Sender) => void;
}

export class CallSources<Sender> {
  /** Streams that no reader has asked for. */
  readonly #unread: (AnyIterator | undefined)[];
  readonly #senders: (Sender | undefined)[] = [];
  readonly #options: CallSourcesOptions<Sender>;
  /** Runs user code in the asynchronous context of the call. */
  readonly #inContext: (work: () => void) => void;

  /** `sources` may grow until the call is sent. The caller of the call is on the stack. */
  constructor(sources: (AnyIterator | undefined)[], options: CallSourcesOptions<Sender>) {
    this.#unread = sources;
    this.#options = options;
    this.#inContext = options.runtime.bindContext();
  }

  /** Whether any was asked for: the call cannot be repeated. */
  get hasStarted(): boolean {
    return this.#senders.length > 0;
  }

  /** The sender of stream `index`, opened by the first request. Undefined: there is no such stream, or the call is over. */
  senderOf(index: number): Sender | undefined {
    const source = this.#unread[index];
    if (source === undefined) return this.#senders[index];
    this.#unread[index] = undefined;
    return this.#senders[index] = this.#options.open(index, source, this.#inContext);
  }

  /** A stream has ended: its reader is told nothing more. */
  forget(index: number): void {
    this.#senders[index] = undefined;
  }

  /** The call is over. Ending an iterator runs user code, which must find the call settled. */
  onOver(): void {
    const unread = this.#unread.splice(0);
    const senders = this.#senders.splice(0);
    this.#options.runtime.microtask(() =>
      this.#inContext(() => {
        for (const sender of senders) if (sender !== undefined) this.#options.end(sender);
        for (const source of unread) if (source !== undefined) endSource(source);
      })
    );
  }
}
