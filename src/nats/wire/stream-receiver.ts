/** The side of a stream that reads it: checks that no batch is missing, and tells the sender what was taken. */
import { ProtocolError, type WorkerLoss, WorkerLostError } from "../../errors.ts";
import { MAX_UNREAD_BYTES } from "../../features/calls/streams/limits.ts";
import type { StreamConsumer } from "../../features/calls/streams/stream-consumer.ts";
import {
  bareMessage,
  CANCEL_STREAM,
  CREDIT,
  type Header,
  ITEMS,
  RESULT_STREAM,
  WAITING,
} from "./frames.ts";

/** A message is at most twice as large as the items that its sender counts. */
const MAX_UNREAD_MESSAGE_BYTES: number = 2 * MAX_UNREAD_BYTES;

export interface StreamReceiverOptions {
  /** Which stream of the call. */
  readonly stream: number;
  /** The id of this machine; 0 for a caller. */
  readonly sender: number;
  /** Sends a message to the side that has the items. */
  readonly post: (message: Uint8Array) => void;
  /** Describes the loss of a batch. */
  readonly loss: () => WorkerLoss;
}

export class StreamReceiver {
  readonly #options: StreamReceiverOptions;
  #consumer!: StreamConsumer;
  #arrived = 0;
  #arrivedBefore = -1;
  #taken = 0;
  /** Bytes of the batches that were not acknowledged. */
  readonly #unread: number[] = [];
  #unreadBytes = 0;
  /** Whether the sender was asked for items. The result of a call needs no request. */
  hasBegun: boolean;

  constructor(options: StreamReceiverOptions) {
    this.#options = options;
    this.hasBegun = options.stream === RESULT_STREAM;
  }

  /** What the consumer of the stream needs. */
  readonly acknowledge = (batches: number): void => {
    this.#taken += batches;
    for (const bytes of this.#unread.splice(0, batches)) this.#unreadBytes -= bytes;
    this.#post(CREDIT);
  };
  readonly cancel = (): void => this.#post(CANCEL_STREAM);

  attach(consumer: StreamConsumer): void {
    this.#consumer = consumer;
  }

  /** Asks for the first items. */
  begin(): void {
    this.hasBegun = true;
    this.#post(CREDIT);
  }

  /**
   * ITEMS with these values has arrived, or SENT or the end. Throws WorkerLostError if a batch before it was lost, or
   * ProtocolError if the sender had no credit.
   */
  receive({ kind, number: batches }: Header, values: unknown[], bytes: number): void {
    // The end may be sent twice, and batches may cross with a cancellation.
    if (this.#consumer.hasEnded || this.#consumer.isCancelled) return;
    const isGap = kind === ITEMS ? batches !== this.#arrived : batches > this.#arrived;
    if (isGap) throw new WorkerLostError(this.#options.loss());
    if (kind !== ITEMS) return;
    if (!this.hasBegun || this.#unreadBytes > MAX_UNREAD_MESSAGE_BYTES) {
      throw new ProtocolError("Items of a stream arrived that its reader had not asked for.");
    }
    this.#arrived++;
    this.#unread.push(bytes);
    this.#unreadBytes += bytes;
    this.#consumer.push(values, bytes);
  }

  /** To be called now and then: a message of either side may have been lost. */
  remind(): void {
    if (this.#consumer.hasEnded) return;
    if (this.#consumer.isCancelled) this.#post(CANCEL_STREAM);
    else if (this.#consumer.isWaiting && this.#arrived === this.#arrivedBefore) this.#post(WAITING);
    this.#arrivedBefore = this.#arrived;
  }

  #post(kind: number): void {
    const { stream, sender, post } = this.#options;
    post(bareMessage(kind, { word: stream, number: this.#taken, sender }));
  }
}
