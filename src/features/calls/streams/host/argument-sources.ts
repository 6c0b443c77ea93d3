/** Arguments that are streams: the host's side. docs/internals/streams.md explains the protocol. */
import { Codec } from "../../../../codec/codec.ts";
import { StreamClosedError } from "../../../../errors.ts";
import { packReason } from "../../../../protocol/abort-reason.ts";
import { ItemBatch } from "../item-batch.ts";
import { SnapshotEncoder } from "../../../../lane/snapshot.ts";
import type { PackedReason } from "../../../../protocol/start-data.ts";
import type { ArgumentMessage, PackedItems, StreamId } from "../messages.ts";
import type { Runtime } from "../../../../runtimes/runtime.ts";
import { HIGH_WATER_MARK } from "../limits.ts";
import { CallSources } from "../call-sources.ts";
import { type AnyIterator, StreamProducer } from "../stream-producer.ts";
import { Departures } from "../../../../host/calls/departures.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";
import type { CallPart } from "../../../../host/calls/call-extra.ts";
import type { InFlight, PendingCall } from "../../../../host/calls/in-flight.ts";

export interface ArgumentSourcesOptions {
  readonly runtime: Runtime;
  readonly inFlight: InFlight;
  /** Maximum bytes of one item. */
  readonly maxPayloadBytes: number;
}

export class ArgumentSources {
  readonly #options: ArgumentSourcesOptions;

  constructor(options: ArgumentSourcesOptions) {
    this.#options = options;
  }

  /** The call is being made with these streams among its arguments. Its caller is on the stack. */
  attach(call: PendingCall, sources: readonly AnyIterator[]): void {
    call.keep().add(new LaneSources(sources, this.#options));
  }

  /** A worker wants items, or no more of them. */
  onMessage(lane: Lane, message: ArgumentMessage): void {
    const { slot, generation, index } = message;
    const call = this.#options.inFlight.find(slot, generation);
    const sources = call?.lane === lane.id ? call.extra?.find(LaneSources) : undefined;
    if (sources !== undefined) {
      sources.onMessage(lane, message);
    } else if (message.heddle === "credit") {
      const reason = packReason(this.#options.runtime, new StreamClosedError());
      lane.postStream({ heddle: "end", slot, generation, index, reason, isOfReturn: false });
    }
  }
}

/** A stream that the worker has asked for. */
interface LaneSender {
  readonly producer: StreamProducer;
  /** Tells the worker that the call is over. */
  readonly abandon: () => void;
}

/** The argument streams of one call. */
class LaneSources implements CallPart {
  readonly isOnce = true;
  readonly needsWorker = true;
  readonly #options: ArgumentSourcesOptions;
  readonly #sources: CallSources<LaneSender>;
  /** Set by the first request, and the same for all. */
  #lane!: Lane;
  #id!: Omit<StreamId, "index">;
  /** What its items have carried. */
  readonly #departures = new Departures();

  constructor(sources: readonly AnyIterator[], options: ArgumentSourcesOptions) {
    this.#options = options;
    this.#sources = new CallSources([...sources], {
      runtime: options.runtime,
      open: (index, source, run) => this.#open({ ...this.#id, index }, source, run),
      end,
    });
  }

  onMessage(lane: Lane, message: ArgumentMessage): void {
    const { slot, generation, index } = message;
    this.#lane = lane;
    this.#id = { slot, generation };
    const producer = this.#sources.senderOf(index)?.producer;
    if (message.heddle === "cancel") producer?.cancel();
    else producer?.acknowledge(message.batches);
  }

  onOver(): void {
    this.#sources.onOver();
    this.#departures.end();
  }

  #open(id: StreamId, iterator: AnyIterator, run: (work: () => void) => void): LaneSender {
    const { runtime, maxPayloadBytes } = this.#options;
    const lane = this.#lane;
    const post = (reason?: PackedReason, isOfReturn = false): void =>
      void lane.postStream({ heddle: "end", ...id, reason, isOfReturn });
    const onEnd = (isThrown: boolean, value: unknown, isOfReturn: boolean): void => {
      this.#sources.forget(id.index);
      try {
        post(isThrown ? packReason(runtime, value) : undefined, isOfReturn);
      } catch (error) {
        post(packReason(runtime, error), isOfReturn);
      }
    };
    const producer = new StreamProducer({
      iterator,
      highWaterMark: HIGH_WATER_MARK,
      now: runtime.now,
      macrotask: runtime.macrotask,
      run,
      onPause: () => {},
      onEnd,
      writer: new ItemWriter(lane, id, this.#departures, runtime, maxPayloadBytes),
    });
    return { producer, abandon: () => post(packReason(runtime, new StreamClosedError())) };
  }
}

/**
 * Ends a source whose call is over. A task that still reads it is told first: an iterator may take long to end, and its end
 * must not look like the end of its items. A reader that wants no more items awaits the iterator.
 */
function end({ producer, abandon }: LaneSender): void {
  if (!producer.isCancelled) abandon();
  producer.cancel();
}

/** Batches up to this size are copied; larger ones are given away as a whole. */
const MAX_COPIED_BYTES = 64 * 1024;

/** Sends the batches of one argument stream by messages. */
class ItemWriter {
  readonly isFull = false;
  readonly #lane: Lane;
  readonly #id: StreamId;
  readonly #departures: Departures;
  readonly #codec: Codec;
  readonly #snapshots: SnapshotEncoder;
  readonly #batch: ItemBatch;
  /** Key lists sent so far. */
  #keyLists = 0;

  constructor(
    lane: Lane,
    id: StreamId,
    departures: Departures,
    access: Runtime,
    maxPayloadBytes: number,
  ) {
    this.#lane = lane;
    this.#id = id;
    this.#departures = departures;
    // Of its own: messages are not in order with the key lists that the ring announces.
    this.#codec = new Codec({ access, origin: 0, maxPayloadBytes, allowsBorrow: false });
    this.#snapshots = new SnapshotEncoder(this.#codec, 0);
    this.#batch = new ItemBatch(this.#snapshots);
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
    const items: PackedItems = {
      count,
      buffer,
      end,
      bytes,
      attachments,
      keyLists: this.#takeKeyLists(),
    };
    this.#lane.postStream({ heddle: "items", ...this.#id, items }, transfer);
  }

  #takeKeyLists(): readonly unknown[] | undefined {
    const { keyLists } = this.#codec;
    const first = this.#keyLists;
    if (first === keyLists.size) return undefined;
    this.#keyLists = keyLists.size;
    return [first, ...keyLists.keysFrom(first, keyLists.size - first)];
  }
}
