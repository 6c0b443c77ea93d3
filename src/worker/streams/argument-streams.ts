/**
 * Arguments that are streams, and functions of the host among them: the worker's side. docs/internals/streams.md explains the
 * protocol of streams.
 */
import { Map, Promise } from "../../builtins.ts";
import { Codec } from "../../codec/codec.ts";
import type { Decoder } from "../../codec/decoder.ts";
import { ReceivedKeyLists } from "../../codec/key-lists/key-lists.ts";
import { CALLBACK_KIND } from "../../codec/support/callback.ts";
import { CallbackEndedError, ProtocolError, StreamClosedError } from "../../errors.ts";
import { unpackReason } from "../../protocol/abort-reason.ts";
import type { CallId } from "../../protocol/host-requests.ts";
import type { ArgumentMessage, PackedItems, StreamMessage } from "../../protocol/start-data.ts";
import { viewMemory } from "../../memory/views.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { createArgumentReader } from "../../streams/argument-reader.ts";
import type { StreamConsumer } from "../../streams/stream-consumer.ts";
import { keyOf } from "../../protocol/call-key.ts";

export interface ArgumentStreamsOptions {
  readonly runtime: Runtime;
  readonly post: (message: ArgumentMessage) => void;
  /** Calls a function of the host. */
  readonly callBack: CallBack;
}

/** Calls the callback at this index among those of a call. */
export type CallBack = (call: CallId, index: number, args: unknown[]) => Promise<unknown>;

/** What belongs to a call while that runs. */
interface Opened {
  bind(slot: number, generation: number): void;
  close(): void;
}

export class ArgumentStreams {
  readonly #options: ArgumentStreamsOptions;
  /** Whether there are streams among the arguments that were read last. Only this class writes it. */
  hasOpened = false;
  /** Of the arguments that are being read. */
  #opened: Opened[] = [];
  /** By call, then by number. */
  readonly #calls = new Map<number, readonly Opened[]>();

  constructor(options: ArgumentStreamsOptions) {
    this.#options = options;
  }

  /** Creates what the task gets in the place of stream or callback `index`. */
  open(index: number, kind: number): object {
    const opened = kind === CALLBACK_KIND
      ? new Callback(index, this.#options.callBack)
      : new ArgumentStream(index, kind === 1, this.#options);
    this.#opened.push(opened);
    this.hasOpened = true;
    return opened.value;
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
    const opened = this.#calls.get(keyOf(message.slot, message.generation));
    const stream = opened?.find((one): one is ArgumentStream =>
      one instanceof ArgumentStream && one.index === message.index
    );
    if (message.heddle === "items") stream?.receive(message.items);
    else if (message.heddle === "end") {
      const { reason, isOfReturn } = message;
      if (reason === undefined) stream?.consumer.end(undefined);
      else stream?.consumer.fail(unpackReason(this.#options.runtime, reason), !isOfReturn);
    }
  }
}

/** A function of the host that the task may call until its own call has ended. */
class Callback implements Opened {
  /** What the task gets. */
  readonly value: (...args: unknown[]) => Promise<unknown>;
  #call: CallId | undefined;

  constructor(index: number, callBack: CallBack) {
    this.value = (...args) =>
      this.#call === undefined
        ? Promise.reject(new CallbackEndedError())
        : callBack(this.#call, index, args);
  }

  bind(slot: number, generation: number): void {
    this.#call = [slot, generation];
  }

  close(): void {
    this.#call = undefined;
  }
}

class ArgumentStream implements Opened {
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
      this.consumer.fail(error, true);
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
