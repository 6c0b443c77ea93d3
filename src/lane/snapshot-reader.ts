/** Reads snapshots on the host itself: for tasks that it runs, and for arguments that are encoded a second time. */
import type { Codec } from "../codec/codec.ts";
import type { Decoder } from "../codec/decoder.ts";
import { ReceivedKeyLists } from "../codec/key-lists/key-lists.ts";
import { viewMemory } from "../memory/views.ts";
import type { Snapshot } from "./snapshot.ts";

export class SnapshotReader {
  readonly decoder: Decoder;
  readonly #codec: Codec;
  readonly #keyLists = new ReceivedKeyLists();

  constructor(codec: Codec) {
    this.#codec = codec;
    this.decoder = codec.decoder(this.#keyLists);
  }

  /** The values of a snapshot, decoded as `decoder.declared` and `decoder.isBorrowing` say. */
  read({ count, inline, payload }: Snapshot): unknown[] {
    const { keyLists } = this.#codec;
    const known = this.#keyLists.size;
    if (known < keyLists.size) {
      this.#keyLists.add([known, ...keyLists.keysFrom(known, keyLists.size)]);
    }
    let buffer = payload?.buffer;
    const bytes = inline?.length ?? payload!.bytes;
    if (inline !== undefined) {
      buffer = new SharedArrayBuffer(bytes);
      new Uint8Array(buffer).set(inline);
    }
    const values = this.decoder.all(viewMemory(buffer!), 0, bytes, count, payload?.attachments);
    this.decoder.forget();
    return values;
  }
}
