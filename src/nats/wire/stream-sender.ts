/** The side of a stream that has its items: sends them in numbered batches, as far ahead of the reader as its credit allows. */
import type { Runtime } from "../../runtimes/runtime.ts";
import {
  CallSources,
  type CallSourcesOptions,
} from "../../features/calls/streams/sources/call-sources.ts";
import { HIGH_WATER_MARK } from "../../features/calls/streams/limits.ts";
import {
  type AnyIterator,
  type BatchWriter,
  StreamProducer,
} from "../../features/calls/streams/stream-producer.ts";
import {
  bareMessage,
  CANCEL_STREAM,
  type Header,
  ITEMS,
  OF_RETURN,
  RESULT_STREAM,
  SENT,
  STREAM_END,
  STREAM_FAILURE,
  WAITING,
} from "./frames.ts";
import { MessageBatch } from "./message-batch.ts";
import type { MessageCodec } from "./message-codec.ts";

export interface StreamSenderOptions {
  readonly codec: MessageCodec;
  readonly runtime: Pick<Runtime, "now" | "macrotask">;
  /** Which stream of the call. */
  readonly stream: number;
  /** The id of this machine; 0 for a caller. */
  readonly sender: number;
  /** Sends a message after those before it. Resolves when it has left; undefined: it has. */
  readonly send: (message: Uint8Array) => Promise<void> | undefined;
  /** Runs what was not called by the owner. Default: as it is. */
  readonly run?: (slice: () => void) => void;
  /** The stream waits for its reader, or goes on. */
  readonly onPause?: (isPaused: boolean) => void;
  /** The end of the stream has left. */
  readonly onEnd?: () => void;
}

export class StreamSender implements BatchWriter {
  /** A batch is leaving in chunks. */
  isFull = false;
  readonly #options: StreamSenderOptions;
  readonly #producer: StreamProducer;
  readonly #batch: MessageBatch;
  /** Batches that were sent, and those of them that the reader has taken. */
  #sent = 0;
  #taken = 0;
  /** The last message. */
  #end: Uint8Array | undefined;

  constructor(iterator: AnyIterator, options: StreamSenderOptions) {
    this.#options = options;
    this.#batch = new MessageBatch(options.codec);
    const { now, macrotask } = options.runtime;
    this.#producer = new StreamProducer({
      iterator,
      highWaterMark: HIGH_WATER_MARK,
      now,
      macrotask,
      run: options.run ?? ((slice) => slice()),
      onPause: options.onPause ?? (() => {}),
      onEnd: (isThrown, value, isOfReturn) => this.#finish(isThrown, value, isOfReturn),
      writer: this,
    });
  }

  /** Begins to ask for items, soon. */
  start(): void {
    this.#producer.resume();
  }

  /** The reader wants no more items, or its call is over. */
  cancel(): void {
    this.#producer.cancel();
  }

  /** The reader does not know the end yet: it may have been lost. */
  #repeatEnd(): void {
    if (this.#end !== undefined) void this.#options.send(this.#end);
  }

  /** CREDIT, WAITING or CANCEL_STREAM has arrived. */
  onReader({ kind, number: taken }: Header): void {
    if (kind === CANCEL_STREAM) {
      if (this.#end === undefined) this.cancel();
      else this.#repeatEnd();
      return;
    }
    const more = Math.max(0, taken - this.#taken);
    this.#taken += more;
    this.#producer.acknowledge(more); // begins a stream that nobody has asked before
    if (kind !== WAITING) return;
    const { stream, sender, send } = this.#options;
    if (this.#end !== undefined) this.#repeatEnd();
    else void send(bareMessage(SENT, { word: stream, number: this.#sent, sender }));
  }

  add(item: unknown): number {
    return this.#batch.add(item);
  }

  discard(): void {
    this.#batch.clear();
  }

  send(): void {
    const { stream, sender, send } = this.#options;
    const message = this.#batch.take(ITEMS, { word: stream, number: this.#sent, sender });
    this.#sent++;
    const sending = send(message);
    if (sending === undefined) return;
    this.isFull = true;
    void sending.then(() => {
      this.isFull = false;
      this.#producer.resume();
    });
  }

  #finish(isThrown: boolean, value: unknown, isOfReturn: boolean): void {
    const { codec, stream, sender, send, onEnd } = this.#options;
    const fields = { word: stream, number: isOfReturn ? OF_RETURN : this.#sent, sender };
    // The return value of a source among the arguments is not sent.
    const returned = stream === RESULT_STREAM ? value : undefined;
    let end: Uint8Array;
    if (isThrown) end = codec.encodeFailure(STREAM_FAILURE, value, fields);
    else {
      try {
        end = codec.encode(STREAM_END, [], [returned], "result", fields);
      } catch (error) {
        end = codec.encodeFailure(STREAM_FAILURE, error, fields);
      }
    }
    this.#end = end;
    const sent = send(end);
    if (sent === undefined) onEnd?.();
    else void sent.then(onEnd);
  }
}

/** The senders of the streams among the arguments of a call. */
export function createSenders(
  sources: (AnyIterator | undefined)[],
  options: Pick<StreamSenderOptions, "codec" | "send"> & {
    readonly runtime: StreamSenderOptions["runtime"] & CallSourcesOptions<StreamSender>["runtime"];
  },
): CallSources<StreamSender> {
  return new CallSources(sources, {
    runtime: options.runtime,
    open: (index, source, run) =>
      new StreamSender(source, { ...options, stream: index + 1, sender: 0, run }),
    end: (sender) => sender.cancel(),
  });
}
