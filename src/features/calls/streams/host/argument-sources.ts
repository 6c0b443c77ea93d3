/** Arguments that are streams: the host's side. docs/internals/streams.md explains the protocol. */
import type { PoolParts } from "../../../../api/pool/parts.ts";
import { Codec } from "../../../../codec/codec.ts";
import { StreamClosedError } from "../../../../errors.ts";
import type { CallPart } from "../../../../host/calls/call-extra.ts";
import { Departures } from "../../../../host/calls/departures.ts";
import type { PendingCall } from "../../../../host/calls/in-flight.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";
import { SnapshotEncoder } from "../../../../lane/snapshot.ts";
import { packReason } from "../../../../protocol/abort-reason.ts";
import type { PackedReason } from "../../../../protocol/start-data.ts";
import { CallSources } from "../sources/call-sources.ts";
import { ItemBatch } from "../item-batch.ts";
import { HIGH_WATER_MARK } from "../limits.ts";
import type { ArgumentMessage, StreamId } from "../messages.ts";
import { type AnyIterator, type BatchWriter, StreamProducer } from "../stream-producer.ts";

/** Batches up to this size are copied; larger ones are given away as a whole. */
const MAX_COPIED_BYTES = 64 * 1024;

/** A call with streams among its arguments is being made. Its caller is on the stack. */
export function attachSources(call: PendingCall, host: PoolParts): void {
  call.keep().add(new LaneSources(host, call.settings.streams!));
}

/** A worker wants items, or no more of them. */
export function onArgumentMessage(lane: Lane, message: ArgumentMessage, host: PoolParts): void {
  const { slot, generation, index } = message;
  const { dispatcher: { inFlight }, spec: { runtime } } = host;
  const call = inFlight.find(slot, generation);
  const sources = call?.lane === lane.id ? call.extra?.find(LaneSources) : undefined;
  if (sources !== undefined) {
    const producer = sources.senderOf(lane, message)?.producer;
    if (message.heddle === "cancel") producer?.cancel();
    else producer?.acknowledge(message.batches);
  } else if (message.heddle === "credit") {
    const reason = packReason(runtime, new StreamClosedError());
    lane.postStream({ heddle: "end", slot, generation, index, reason, isOfReturn: false });
  }
}

/** The argument streams of one call. */
class LaneSources implements CallPart {
  readonly isOnce = true;
  readonly needsWorker = true;
  readonly #sources: CallSources<LaneSender>;
  /** Set by the first request, and the same for all. */
  #lane!: Lane;
  #id!: Omit<StreamId, "index">;
  /** What its items have carried. */
  readonly #departures = new Departures();

  constructor(host: PoolParts, sources: readonly AnyIterator[]) {
    this.#sources = new CallSources([...sources], {
      runtime: host.spec.runtime,
      open: (index, iterator, run) => {
        const id = { ...this.#id, index };
        const onEnd = (): void => this.#sources.forget(index);
        return new LaneSender(host, this.#lane, id, this.#departures, { iterator, run, onEnd });
      },
      end: (sender) => sender.end(),
    });
  }

  senderOf(lane: Lane, { slot, generation, index }: StreamId): LaneSender | undefined {
    this.#lane = lane;
    this.#id = { slot, generation };
    return this.#sources.senderOf(index);
  }

  onOver(): void {
    this.#sources.onOver();
    this.#departures.end();
  }
}

/** Sends the batches of one argument stream, which the worker has asked for, by messages. */
class LaneSender implements BatchWriter {
  readonly isFull = false;
  readonly producer: StreamProducer;
  readonly #host: PoolParts;
  readonly #lane: Lane;
  readonly #id: StreamId;
  readonly #departures: Departures;
  readonly #codec: Codec;
  readonly #batch: ItemBatch;
  /** Key lists sent so far. */
  #keyLists = 0;

  constructor(
    host: PoolParts,
    lane: Lane,
    id: StreamId,
    departures: Departures,
    { iterator, run, onEnd }: {
      readonly iterator: AnyIterator;
      readonly run: (work: () => void) => void;
      readonly onEnd: () => void;
    },
  ) {
    const { runtime, options: { maxPayloadBytes } } = host.spec;
    this.#host = host;
    this.#lane = lane;
    this.#id = id;
    this.#departures = departures;
    // Of its own: messages are not in order with the key lists that the ring announces.
    this.#codec = new Codec({ access: runtime, origin: 0, maxPayloadBytes, allowsBorrow: false });
    this.#batch = new ItemBatch(new SnapshotEncoder(this.#codec, 0));
    this.producer = new StreamProducer({
      iterator,
      highWaterMark: HIGH_WATER_MARK,
      now: runtime.now,
      macrotask: runtime.macrotask,
      run,
      onPause: () => {},
      onEnd: (isThrown, value, isOfReturn) => {
        onEnd();
        if (isThrown) this.#fail(value, isOfReturn);
        else this.#postEnd(undefined, isOfReturn);
      },
      writer: this,
    });
  }

  add(item: unknown): number {
    return this.#batch.add(item);
  }

  discard(): void {
    this.#batch.clear();
  }

  send(bytes: number): void {
    const { encoder, end, count } = this.#batch;
    let transfer: readonly unknown[] = [];
    let attachments: readonly unknown[] = [];
    let buffer: SharedArrayBuffer;
    try {
      if (encoder.attachments.isEmpty && end <= MAX_COPIED_BYTES) {
        buffer = new SharedArrayBuffer(end);
        new Uint8Array(buffer).set(encoder.u8.subarray(0, end));
      } else {
        const snapshot = this.#batch.take();
        ({ transfer } = snapshot);
        ({ attachments } = snapshot.payload!);
        buffer = snapshot.payload!.buffer!;
        if (snapshot.departures !== undefined) this.#departures.carry(snapshot.departures);
      }
    } finally {
      this.#batch.clear();
    }
    const keyLists = this.#takeKeyLists();
    const items = { count, buffer, end, bytes, attachments, keyLists };
    this.#lane.postStream({ heddle: "items", ...this.#id, items }, transfer);
  }

  /**
   * The call is over. A task that still reads the stream is told first: an iterator may take long to end, and its end must not look
   * like the end of its items. A reader that wants no more items awaits the iterator.
   */
  end(): void {
    if (!this.producer.isCancelled) this.#fail(new StreamClosedError(), false);
    this.producer.cancel();
  }

  #fail(error: unknown, isOfReturn: boolean): void {
    const { runtime } = this.#host.spec;
    try {
      this.#postEnd(packReason(runtime, error), isOfReturn);
    } catch (refusal) {
      this.#postEnd(packReason(runtime, refusal), isOfReturn);
    }
  }

  #postEnd(reason: PackedReason | undefined, isOfReturn: boolean): void {
    this.#lane.postStream({ heddle: "end", ...this.#id, reason, isOfReturn });
  }

  #takeKeyLists(): string | undefined {
    const { keyLists } = this.#codec;
    const first = this.#keyLists;
    if (first === keyLists.size) return undefined;
    this.#keyLists = keyLists.size;
    return keyLists.textFrom(first, keyLists.size - first);
  }
}
