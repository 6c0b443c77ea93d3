/** The open batch of a stream: items encoded one after the other as they are yielded. */
import type { Encoder } from "../../../codec/encoder.ts";
import { bufferLength } from "../../../codec/support/intrinsics.ts";
import { NEEDS_OWN_BATCH } from "./stream-producer.ts";
import { BATCH_BYTES } from "./limits.ts";
import { rewindItem, type Snapshot, type SnapshotEncoder } from "../../../lane/snapshot.ts";

/** A record counts the bytes of a batch in an int32. Each batch above the limit of unread bytes is read alone anyway. */
const MAX_COUNTED_BYTES = 2 ** 31 - 1;

export class ItemBatch {
  count = 0;
  /** Where the items end. */
  end = 0;
  readonly #snapshots: SnapshotEncoder;
  #encoder: Encoder | undefined;

  constructor(snapshots: SnapshotEncoder) {
    this.#snapshots = snapshots;
  }

  /** Adds an item (`BatchWriter.add`). Throws DataCloneError, PayloadTooLargeError or what a getter throws. */
  add(item: unknown): number {
    if (this.#encoder === undefined) {
      this.#encoder = this.#snapshots.codec.acquire();
      this.end = this.#encoder.begin();
    }
    const encoder = this.#encoder;
    // Numbers and texts have no attachments, and are most of the items.
    const before = typeof item === "object" ? encoder.mark() : undefined;
    const end = this.#snapshots.encodeItem(encoder, item, this.end);
    if (before !== undefined && this.count > 0 && !encoder.attachments.isEmpty) {
      rewindItem(encoder, before);
      return NEEDS_OWN_BATCH;
    }
    this.end = end;
    this.count++;
    const bytes = end + encoder.copiedBytes;
    if (encoder.attachments.isEmpty) return Math.min(bytes, MAX_COUNTED_BYTES);
    // What a port carries is sent at once.
    const { isArrayBuffer } = this.#snapshots.kinds;
    let moved = BATCH_BYTES;
    for (const object of encoder.attachments.objects) {
      if (isArrayBuffer(object)) moved += bufferLength.call(object);
    }
    return Math.min(bytes + moved, MAX_COUNTED_BYTES);
  }

  /** The encoder that holds the items. */
  get encoder(): Encoder {
    return this.#encoder!;
  }

  /** The items as a snapshot that leaves at once (`SnapshotEncoder.take`). */
  take(): Snapshot {
    return this.#snapshots.take(this.#encoder!, this.end, this.count, true);
  }

  /** Forgets the items. */
  clear(): void {
    if (this.#encoder !== undefined) this.#snapshots.codec.release(this.#encoder);
    this.#encoder = undefined;
    this.count = this.end = 0;
  }
}
