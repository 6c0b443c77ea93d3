/** Reads snapshots on the host itself: for tasks that it runs, and for arguments that are encoded a second time. */
import type { Codec } from "../codec/codec.ts";
import type { Decoder } from "../codec/decoder.ts";
import { ReceivedKeyLists } from "../codec/key-lists.ts";
import { type Memory, viewMemory } from "../memory/views.ts";
import type { Snapshot } from "./snapshot.ts";

/** Most snapshots in a record or a message are smaller. */
const SCRATCH_BYTES = 4096;

export class SnapshotReader {
  readonly decoder: Decoder;
  #scratch: Memory | undefined;
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
      this.#keyLists.add(keyLists.textFrom(known, keyLists.size));
    }
    const bytes = inline?.length ?? payload!.bytes;
    const memory = inline === undefined ? viewMemory(payload!.buffer!) : this.#copyOf(inline);
    const values = this.decoder.all(memory, 0, bytes, count, payload?.attachments);
    this.decoder.forget();
    return values;
  }

  /** Memory that decoders take. Used again, unless values may refer to it. */
  #copyOf(inline: Uint8Array): Memory {
    const { length } = inline;
    const isKept = length > SCRATCH_BYTES || this.decoder.isBorrowing ||
      this.decoder.declared !== undefined;
    const memory = isKept
      ? viewMemory(new SharedArrayBuffer(length))
      : this.#scratch ??= viewMemory(new SharedArrayBuffer(SCRATCH_BYTES));
    memory.u8.set(inline);
    return memory;
  }
}
