/** The side of a stream that reads it: checks that no batch is missing, and tells the sender what was taken. */
import { type WorkerLoss, WorkerLostError } from "../../errors.ts";
import type { StreamConsumer } from "../../streams/stream-consumer.ts";
import { bareMessage, CANCEL_STREAM, CREDIT, type Header, ITEMS, WAITING } from "./frames.ts";

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

  constructor(options: StreamReceiverOptions) {
    this.#options = options;
  }

  /** What the consumer of the stream needs. */
  readonly acknowledge = (batches: number): void => {
    this.#taken += batches;
    this.#post(CREDIT);
  };
  readonly cancel = (): void => this.#post(CANCEL_STREAM);

  attach(consumer: StreamConsumer): void {
    this.#consumer = consumer;
  }

  /** Asks for the first items. */
  begin(): void {
    this.#post(CREDIT);
  }

  /** A message of the sender with these values has arrived. Throws WorkerLostError if one before it was lost. */
  receive({ kind, number: batches }: Header, values: unknown[], bytes: number): void {
    if (this.#consumer.hasEnded) return; // the end was sent twice
    const isGap = kind === ITEMS ? batches !== this.#arrived : batches > this.#arrived;
    if (isGap) throw new WorkerLostError(this.#options.loss());
    if (kind !== ITEMS) return;
    this.#arrived++;
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
    post(bareMessage(kind, { word: stream, number: this.#taken, count: this.#arrived, sender }));
  }
}
