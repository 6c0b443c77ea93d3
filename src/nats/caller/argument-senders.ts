/** The streams among the arguments of one call. Each is asked when its machine asks for it, and ended with the call. */
import type { Runtime } from "../../runtimes/runtime.ts";
import { endSource } from "../../streams/open-source.ts";
import type { AnyIterator } from "../../streams/stream-producer.ts";
import { CANCEL_STREAM, type Header } from "../wire/frames.ts";
import type { MessageCodec } from "../wire/message-codec.ts";
import { StreamSender } from "../wire/stream-sender.ts";

export interface ArgumentSendersOptions {
  readonly codec: MessageCodec;
  readonly runtime: Pick<Runtime, "now" | "macrotask" | "microtask" | "bindContext">;
  /** Sends a message to the machine after those before it. Resolves when it has left; undefined: it has. */
  readonly send: (message: Uint8Array) => Promise<void> | undefined;
}

export class ArgumentSenders {
  /** Streams that no machine has asked for. */
  readonly #unread: (AnyIterator | undefined)[];
  readonly #started: (StreamSender | undefined)[] = [];
  readonly #options: ArgumentSendersOptions;
  /** Runs user code in the asynchronous context of the call. */
  readonly #inContext: (f: () => void) => void;

  /** `sources` may grow until the call is sent. The caller of the call is on the stack. */
  constructor(sources: (AnyIterator | undefined)[], options: ArgumentSendersOptions) {
    this.#unread = sources;
    this.#options = options;
    this.#inContext = options.runtime.bindContext();
  }

  /** Whether any was asked while the call runs: it cannot be repeated. */
  get hasStarted(): boolean {
    return this.#started.length > 0;
  }

  /** CREDIT, WAITING or CANCEL_STREAM has arrived. */
  onReader(header: Header): void {
    const index = header.word - 1;
    const started = this.#started[index];
    const source = this.#unread[index];
    if (started !== undefined) started.onReader(header);
    else if (source !== undefined) {
      const sender = this.#start(index, source);
      if (header.kind === CANCEL_STREAM) sender.cancel();
      else sender.start();
    }
  }

  /** The call is over. Ending an iterator runs user code, which must find the call settled. */
  onOver(): void {
    const unread = this.#unread.splice(0);
    const started = this.#started.splice(0);
    this.#options.runtime.microtask(() =>
      this.#inContext(() => {
        for (const sender of started) sender?.cancel();
        for (const source of unread) if (source !== undefined) endSource(source);
      })
    );
  }

  #start(index: number, iterator: AnyIterator): StreamSender {
    const { codec, runtime, send } = this.#options;
    this.#unread[index] = undefined;
    return this.#started[index] = new StreamSender(iterator, {
      codec,
      runtime,
      stream: index + 1,
      sender: 0,
      send,
      run: this.#inContext,
    });
  }
}
