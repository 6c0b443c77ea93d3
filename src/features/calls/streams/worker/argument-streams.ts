/** Arguments that are streams: the worker's side. docs/internals/streams.md explains the protocol of streams. */
import { Codec } from "../../../../codec/codec.ts";
import type { Decoder } from "../../../../codec/decoder.ts";
import { ReceivedKeyLists } from "../../../../codec/key-lists.ts";
import { ProtocolError, StreamClosedError } from "../../../../errors.ts";
import { unpackReason } from "../../../../protocol/abort-reason.ts";
import { keyOf } from "../../../../protocol/call-key.ts";
import type { PackedItems, StreamMessage } from "../messages.ts";
import { viewMemory } from "../../../../memory/views.ts";
import { createArgumentReader } from "../sources/argument-reader.ts";
import type { StreamConsumer } from "../stream-consumer.ts";
import type { HeldArgument } from "../../../../worker/task.ts";
import type { WorkerCore } from "../../../../worker/worker-core.ts";

/** Items have arrived, or the end of a stream. Its call may be over. */
export function onArgumentMessage(message: StreamMessage, { loop, runtime }: WorkerCore): void {
  const held = loop?.runner.held.get(keyOf(message.slot, message.generation));
  const stream = held?.find((one): one is ArgumentStream =>
    one instanceof ArgumentStream && one.index === message.index
  );
  if (message.heddle === "items") stream?.receive(message.items);
  else if (message.heddle === "end") {
    const { reason, isOfReturn } = message;
    if (reason === undefined) stream?.consumer.end(undefined);
    else stream?.consumer.fail(unpackReason(runtime, reason), !isOfReturn);
  }
}

export class ArgumentStream implements HeldArgument {
  readonly index: number;
  readonly consumer: StreamConsumer;
  /** What the task gets. */
  readonly value: object;
  readonly #core: WorkerCore;
  readonly #keyLists = new ReceivedKeyLists();
  #decoder: Decoder | undefined;
  #slot = -1;
  #generation = 0;

  constructor(index: number, isReadable: boolean, core: WorkerCore) {
    this.index = index;
    this.#core = core;
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
    const { runtime } = this.#core;
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
    this.#core.post(message);
  }
}
