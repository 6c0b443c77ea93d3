/** The streams among the arguments of one call. Each is opened when its machine asks for it, and ended with the call. */
import type { Runtime } from "../../runtimes/runtime.ts";
import { iteratorOf } from "../../streams/stream-producer.ts";
import { CANCEL_STREAM, type Header, STREAM_FAILURE } from "../wire/frames.ts";
import type { MessageCodec } from "../wire/message-codec.ts";
import { StreamSender } from "../wire/stream-sender.ts";

export interface ArgumentSendersOptions {
  readonly codec: MessageCodec;
  readonly runtime: Pick<Runtime, "now" | "macrotask" | "microtask">;
  /** Sends a message to the machine after those before it. Resolves when it has left; undefined: it has. */
  readonly send: (message: Uint8Array) => Promise<void> | undefined;
  /** Batches were lost on the way. */
  readonly onLost: () => void;
}

export class ArgumentSenders {
  /** Streams that no machine has asked for. */
  readonly #unread: (object | undefined)[];
  readonly #started: (StreamSender | undefined)[] = [];
  readonly #options: ArgumentSendersOptions;
  #hasStarted = false;
  #isOver = false;

  constructor(sources: readonly object[], options: ArgumentSendersOptions) {
    this.#unread = [...sources];
    this.#options = options;
  }

  /** Whether any was opened: the call cannot be repeated. */
  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  /** CREDIT, WAITING or CANCEL_STREAM has arrived. */
  onReader(header: Header): void {
    const index = header.word - 1;
    const started = this.#started[index];
    const source = this.#unread[index];
    if (header.kind === CANCEL_STREAM) started?.cancel();
    else if (started !== undefined) started.onReader(header);
    else if (source !== undefined) this.#start(index, source);
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

  #start(index: number, source: object): void {
    const { codec, runtime, send, onLost } = this.#options;
    const stream = index + 1;
    this.#unread[index] = undefined;
    this.#hasStarted = true;
    try {
      const options = { codec, runtime, stream, sender: 0, send, onEnd: () => {}, onLost };
      const sender = new StreamSender(iteratorOf(source)!, options);
      // Opening the iterator runs user code, which may have ended the call.
      if (this.#isOver) sender.cancel();
      else {
        this.#started[index] = sender;
        sender.start();
      }
    } catch (error) {
      void send(codec.encodeFailure(STREAM_FAILURE, error, { word: stream }));
    }
  }
}
