/** Arguments that are streams: the worker's side. docs/internals/streams.md explains the protocol. */
import { Map } from "../builtins.ts";
import { Codec } from "../codec/codec.ts";
import type { Decoder } from "../codec/decoder.ts";
import { ReceivedKeyLists } from "../codec/key-lists/key-lists.ts";
import { ProtocolError, StreamClosedError } from "../errors.ts";
import { unpackReason } from "../protocol/abort-reason.ts";
import type { ArgumentMessage, PackedItems, StreamMessage } from "../protocol/start-data.ts";
import { viewMemory } from "../memory/views.ts";
import type { Runtime } from "../runtimes/runtime.ts";
import { createArgumentReader } from "../streams/argument-reader.ts";
import type { StreamConsumer } from "../streams/stream-consumer.ts";
import { keyOf } from "./abort-signals.ts";

export interface ArgumentStreamsOptions {
  readonly runtime: Runtime;
  readonly post: (message: ArgumentMessage) => void;
}

export class ArgumentStreams {
  readonly #options: ArgumentStreamsOptions;
  /** Whether there are streams among the arguments that were read last. Only this class writes it. */
  hasOpened = false;
  /** Of the arguments that are being read. */
  #opened: ArgumentStream[] = [];
  /** By call, then by number. */
  readonly #calls = new Map<number, readonly ArgumentStream[]>();

  constructor(options: ArgumentStreamsOptions) {
    this.#options = options;
  }

  /** Creates what the task gets in the place of stream `index`. */
  open(index: number, isReadable: boolean): object {
    const stream = new ArgumentStream(index, isReadable, this.#options);
    this.#opened.push(stream);
    this.hasOpened = true;
    return stream.value;
  }

  /** Whether a running call has any. */
  get isOpen(): boolean {
    return this.#calls.size > 0;
  }

  /** The arguments that were read last belong to this call. */
  bind(slot: number, generation: number): void {
    for (const stream of this.#opened) stream.bind(slot, generation);
    this.#calls.set(keyOf(slot, generation), this.#opened);
    this.forget();
  }

  /** The next arguments are read, or these could not be read. */
  forget(): void {
    this.#opened = [];
    this.hasOpened = false;
  }

  /** The call is over: its streams cannot be read any more. */
  close(slot: number, generation: number): void {
    const key = keyOf(slot, generation);
    for (const stream of this.#calls.get(key) ?? []) stream.close();
    this.#calls.delete(key);
  }

  /** Items have arrived, or the end of a stream. Its call may be over. */
  onMessage(message: StreamMessage): void {
    const streams = this.#calls.get(keyOf(message.slot, message.generation));
    const stream = streams?.find(({ index }) => index === message.index);
    if (message.heddle === "items") stream?.receive(message.items);
    else if (message.heddle === "end") {
      const { reason } = message;
      if (reason === undefined) stream?.consumer.end(undefined);
      else stream?.consumer.fail(unpackReason(this.#options.runtime, reason));
    }
  }
}

class ArgumentStream {
  readonly index: number;
  readonly consumer: StreamConsumer;
  /** What the task gets. */
  readonly value: object;
  readonly #options: ArgumentStreamsOptions;
  readonly #keyLists = new ReceivedKeyLists();
  #decoder: Decoder | undefined;
  #slot = -1;
  #generation = 0;

  constructor(index: number, isReadable: boolean, options: ArgumentStreamsOptions) {
    this.index = index;
    this.#options = options;
    ({ consumer: this.consumer, value: this.value } = createArgumentReader({
      begin: () => this.#post("credit", 0),
      acknowledge: (batches) => this.#post("credit", batches),
      cancel: () => this.#post("cancel"),
    }, isReadable));
  }

  bind(slot: number, generation: number): void {
    this.#slot = slot;
    this.#generation = generation;
  }

  receive({ count, buffer, end, bytes, attachments, keyLists }: PackedItems): void {
    const { runtime } = this.#options;
    this.#decoder ??= new Codec({
      access: runtime,
      origin: 0,
      maxPayloadBytes: Infinity,
      allowsBorrow: false,
    }).decoder(this.#keyLists);
    try {
      if (keyLists !== undefined) this.#keyLists.add(keyLists);
      const items = this.#decoder.all(viewMemory(buffer), 0, end, count, attachments);
      this.#decoder.forget();
      this.consumer.push(items, bytes);
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      this.#post("cancel");
      this.consumer.fail(error);
    }
  }

  close(): void {
    this.consumer.drop();
    this.consumer.fail(new StreamClosedError());
  }

  #post(kind: "credit" | "cancel", batches = 0): void {
    const id = { slot: this.#slot, generation: this.#generation, index: this.index };
    const message = kind === "credit"
      ? { heddle: kind, ...id, batches } as const
      : { heddle: kind, ...id } as const;
    this.#options.post(message);
  }
}
