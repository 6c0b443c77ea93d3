/** The arguments of one call that are streams of its caller. */
import { Map } from "../../builtins.ts";
import { ProtocolError, StreamClosedError, type WorkerLoss } from "../../errors.ts";
import { createArgumentReader } from "../../features/calls/streams/sources/argument-reader.ts";
import type { StreamConsumer } from "../../features/calls/streams/stream-consumer.ts";
import { type Header, OF_RETURN, STREAM_END, STREAM_FAILURE } from "../wire/frames.ts";
import type { MessageCodec } from "../wire/message-codec.ts";
import { StreamReceiver } from "../wire/stream-receiver.ts";

export interface ArgumentReadersOptions {
  readonly codec: MessageCodec;
  /** The id of this machine. */
  readonly sender: number;
  /** Sends a message to the caller. */
  readonly post: (message: Uint8Array) => void;
  /** Describes the loss of a batch. */
  readonly loss: () => WorkerLoss;
}

/** Streams among the arguments of a call. */
const MAX_STREAMS = 1024;

interface Reading {
  readonly consumer: StreamConsumer;
  readonly receiver: StreamReceiver;
}

export class ArgumentReaders {
  readonly #options: ArgumentReadersOptions;
  readonly #streams = new Map<number, Reading>();

  constructor(options: ArgumentReadersOptions) {
    this.#options = options;
  }

  /** Creates what the task gets in the place of stream `index`. */
  open(index: number, isReadable: boolean): object {
    const { sender, post, loss } = this.#options;
    if (index !== this.#streams.size || index >= MAX_STREAMS) {
      throw new ProtocolError(`Stream ${index} among the arguments is out of order, or too many.`);
    }
    const stream = index + 1;
    const receiver = new StreamReceiver({ stream, sender, post, loss });
    const { consumer, value } = createArgumentReader({
      begin: () => receiver.begin(),
      acknowledge: receiver.acknowledge,
      // A source that was never asked has nothing to end.
      cancel: (hasBegun) => hasBegun ? receiver.cancel() : consumer.end(undefined),
    }, isReadable);
    receiver.attach(consumer);
    this.#streams.set(stream, { consumer, receiver });
    return value;
  }

  /** A message of the caller about a stream. Throws WorkerLostError if one before it was lost, or ProtocolError. */
  receive(header: Header, bytes: Uint8Array): void {
    const reading = this.#streams.get(header.word);
    if (reading === undefined) return;
    const { consumer, receiver } = reading;
    const values = this.#options.codec.decode(bytes, header);
    receiver.receive(header, values, bytes.length);
    if (header.kind === STREAM_END) consumer.end(undefined);
    else if (header.kind === STREAM_FAILURE) {
      consumer.fail(values[0], header.number !== OF_RETURN);
    }
  }

  /** To be called now and then while the call runs. */
  remind(): void {
    for (const { receiver } of this.#streams.values()) receiver.remind();
  }

  /** The call is over: its streams cannot be read any more. `reason`: why. */
  close(reason: unknown = new StreamClosedError()): void {
    for (const { consumer } of this.#streams.values()) {
      consumer.drop();
      consumer.fail(reason);
    }
  }
}
