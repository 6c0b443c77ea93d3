/** Sends a result that is a stream, item by item in batches, as far ahead of its reader as the credit allows. */
import type { ResultStream } from "../../host/streams/result-stream.ts";
import { BATCH_ITEMS, HIGH_WATER_MARK, MAX_UNREAD_BYTES } from "../../streams/limits.ts";
import { ITEMS, STREAM_END, STREAM_FAILURE } from "../wire/frames.ts";
import type { MessageCodec } from "../wire/message-codec.ts";

export interface PumpOptions {
  readonly codec: MessageCodec;
  readonly sender: number;
  /** Sends a message; resolves when it has left. */
  readonly send: (message: Uint8Array) => Promise<void> | undefined;
  readonly macrotask: (callback: () => void) => void;
}

interface Unread {
  readonly items: number;
  readonly bytes: number;
}

export class ResultPump {
  readonly #stream: ResultStream<unknown, unknown>;
  readonly #options: PumpOptions;
  readonly #unread: Unread[] = [];
  #unreadItems = 0;
  #unreadBytes = 0;
  #batch: unknown[] = [];
  /** The batch being sent; those after it must wait. */
  #sending: Promise<void> | undefined;
  #isFlushDue = false;
  #isCancelled = false;
  #failure: { readonly reason: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(stream: ResultStream<unknown, unknown>, options: PumpOptions) {
    this.#stream = stream;
    this.#options = options;
  }

  /** Resolves when the stream has ended and its end was sent. */
  async run(): Promise<void> {
    const { codec, sender, send } = this.#options;
    try {
      const value = await this.#forward();
      await send(codec.encode(STREAM_END, [], [value], "result", { sender }));
    } catch (error) {
      await this.#flush(); // items before a failure come first
      await send(codec.encodeFailure(STREAM_FAILURE, error, { sender }));
    }
  }

  /** The reader has taken this many batches. */
  credit(batches: number): void {
    for (const { items, bytes } of this.#unread.splice(0, batches)) {
      this.#unreadItems -= items;
      this.#unreadBytes -= bytes;
    }
    this.#wake?.();
  }

  /** The reader wants no more items: the task's generator ends. */
  cancel(): void {
    this.#isCancelled = true;
    this.#wake?.();
    this.#stream.return().catch(() => {}); // `run` sends the failure
  }

  async #forward(): Promise<unknown> {
    for (;;) {
      while (!this.#isCancelled && this.#isFull()) {
        await new Promise<void>((resolve) => this.#wake = resolve);
      }
      if (this.#failure !== undefined) {
        await this.#stream.return();
        throw this.#failure.reason;
      }
      // `returned` has the outcome of a cancelled stream, and its errors.
      if (this.#isCancelled) return await this.#stream.returned;
      const { done, value } = await this.#stream.next();
      if (done === true) {
        await this.#flush();
        if (this.#failure !== undefined) continue;
        return value;
      }
      this.#batch.push(value);
      if (this.#batch.length >= BATCH_ITEMS) await this.#flush();
      else if (!this.#isFlushDue) {
        this.#isFlushDue = true;
        this.#options.macrotask(() => {
          this.#isFlushDue = false;
          void this.#flush();
        });
      }
    }
  }

  #isFull(): boolean {
    return this.#unreadItems + this.#batch.length >= HIGH_WATER_MARK ||
      this.#unreadBytes >= MAX_UNREAD_BYTES;
  }

  async #flush(): Promise<void> {
    while (this.#sending !== undefined) await this.#sending;
    const items = this.#batch;
    if (items.length === 0 || this.#isCancelled || this.#failure !== undefined) return;
    this.#batch = [];
    const { codec, sender, send } = this.#options;
    for (const part of this.#encode(codec, items, sender)) {
      this.#unread.push({ items: part.items, bytes: part.message.length });
      this.#unreadItems += part.items;
      this.#unreadBytes += part.message.length;
      const sent = send(part.message);
      if (sent === undefined) continue;
      this.#sending = sent.finally(() => this.#sending = undefined);
      await this.#sending;
    }
  }

  /** One message of all items; if that fails, the items up to the one that cannot be sent. */
  *#encode(
    codec: MessageCodec,
    items: readonly unknown[],
    sender: number,
  ): Generator<{ readonly items: number; readonly message: Uint8Array }> {
    try {
      const message = codec.encodeItems(ITEMS, items, { sender });
      yield { items: items.length, message };
      return;
    } catch (error) {
      if (items.length === 1) {
        this.#failure = { reason: error };
        this.#stream.return().catch(() => {}); // `#forward` may wait for an item
        return;
      }
    }
    for (const item of items) {
      if (this.#failure !== undefined) return;
      yield* this.#encode(codec, [item], sender);
    }
  }
}
