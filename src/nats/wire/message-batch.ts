/** The open batch of a stream: items encoded one after the other as they come. */
import { encodingError } from "../../codec/codec.ts";
import { DataCloneError, PayloadTooLargeError } from "../../errors.ts";
import { BATCH_BYTES, BATCH_ITEMS } from "../../features/calls/streams/limits.ts";
import type { HeaderFields } from "./frames.ts";
import { MAX_ATTACHMENTS, type MessageCodec, type MessageEncoder } from "./message-codec.ts";

/** Each item is a value of its own, without references to the others. */
export class MessageBatch {
  readonly #codec: MessageCodec;
  readonly #maxItemBytes: number;
  #encoder: MessageEncoder | undefined;
  #count = 0;
  #end = 0;

  constructor(codec: MessageCodec) {
    this.#codec = codec;
    this.#maxItemBytes = codec.maxPayloadBytes;
  }

  /** Adds an item; returns the bytes of the batch. Throws as `MessageCodec.encode` does; the items before stay. */
  add(item: unknown): number {
    if (this.#encoder === undefined) {
      this.#encoder = this.#codec.acquire();
      this.#end = this.#encoder.begin();
    }
    const encoder = this.#encoder;
    encoder.name = "item";
    encoder.isUnlimited = true;
    const mark = encoder.mark();
    try {
      const end = encoder.root(item, this.#end);
      const bytes = end - this.#end + encoder.copiedBytes - mark.copiedBytes;
      if (bytes > this.#maxItemBytes) throw new PayloadTooLargeError(bytes, this.#maxItemBytes);
      if (encoder.attachments.count > MAX_ATTACHMENTS) {
        throw new DataCloneError(`item has more than ${MAX_ATTACHMENTS} buffers.`);
      }
      this.#end = end;
    } catch (error) {
      encoder.rewind(mark);
      throw encodingError(error, "item");
    } finally {
      encoder.forgetObjects();
    }
    this.#count++;
    const bytes = this.#end + encoder.copiedBytes;
    return encoder.attachments.count < BATCH_ITEMS ? bytes : Math.max(bytes, BATCH_BYTES);
  }

  /** The message of the items, which are forgotten. */
  take(kind: number, fields: HeaderFields): Uint8Array {
    try {
      const encoder = this.#encoder!;
      return this.#codec.finish(encoder, this.#end, kind, { ...fields, count: this.#count });
    } finally {
      this.clear();
    }
  }

  clear(): void {
    if (this.#encoder !== undefined) this.#codec.release(this.#encoder);
    this.#encoder = undefined;
    this.#count = 0;
  }
}
