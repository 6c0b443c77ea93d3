/** The streams among the arguments of one call. Each is opened when its machine asks for it, and ended with the call. */
import type { Runtime } from "../../runtimes/runtime.ts";
import { type AnyIterator, iteratorOf } from "../../streams/stream-producer.ts";
import { CANCEL_STREAM, type Header } from "../wire/frames.ts";
import type { MessageCodec } from "../wire/message-codec.ts";
import { StreamSender } from "../wire/stream-sender.ts";

export interface ArgumentSendersOptions {
  readonly codec: MessageCodec;
  readonly runtime: Pick<Runtime, "now" | "macrotask" | "microtask">;
  /** Sends a message to the machine after those before it. Resolves when it has left; undefined: it has. */
  readonly send: (message: Uint8Array) => Promise<void> | undefined;
}

/** In the place of a source that its reader does not want any more. */
const NOTHING: AnyIterator = { next: () => ({ done: true, value: undefined }) };

export class ArgumentSenders {
  /** Streams that no machine has asked for. */
  readonly #unread: (object | undefined)[];
  readonly #started: (StreamSender | undefined)[] = [];
  readonly #options: ArgumentSendersOptions;
  #isOver = false;

  constructor(sources: readonly object[], options: ArgumentSendersOptions) {
    this.#unread = [...sources];
    this.#options = options;
  }

  /** Whether any was opened while the call runs: it cannot be repeated. */
  get hasStarted(): boolean {
    return this.#started.length > 0;
  }

  /** CREDIT, WAITING or CANCEL_STREAM has arrived. */
  onReader(header: Header): void {
    const index = header.word - 1;
    const started = this.#started[index];
    const source = this.#unread[index];
    if (started !== undefined) started.onReader(header);
    else if (source === undefined) return;
    else if (header.kind === CANCEL_STREAM) this.#start(index, () => NOTHING);
    else this.#start(index, () => iteratorOf(source)!);
  }

  /** The call is over. Ending an iterator runs user code, which must find the call settled. */
  onOver(): void {
    this.#isOver = true;
    this.#unread.length = 0;
    const started = this.#started.splice(0);
    if (started.length === 0) return;
    this.#options.runtime.microtask(() => {
      for (const sender of started) sender?.cancel();
    });
  }

  #start(index: number, open: () => AnyIterator): void {
    const { codec, runtime, send } = this.#options;
    this.#unread[index] = undefined;
    let iterator: AnyIterator;
    try {
      iterator = open();
    } catch (error) {
      // The error is the end of the stream.
      iterator = {
        next() {
          throw error;
        },
      };
    }
    const sender = new StreamSender(iterator, {
      codec,
      runtime,
      stream: index + 1,
      sender: 0,
      send,
    });
    // Opening the iterator runs user code, which may have ended the call.
    if (this.#isOver) sender.cancel();
    else {
      this.#started[index] = sender;
      sender.start();
    }
  }
}
