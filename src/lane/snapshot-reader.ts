/** Reads snapshots on the host itself: for tasks that it runs, and for arguments that are encoded a second time. */
import type { Codec } from "../codec/codec.ts";
import type { Decoder } from "../codec/decoder.ts";
import { ReceivedShapes } from "../codec/shapes/shapes.ts";
import { viewMemory } from "../memory/views.ts";
import type { Snapshot } from "./snapshot.ts";

export class SnapshotReader {
  readonly decoder: Decoder;
  readonly #codec: Codec;
  readonly #shapes = new ReceivedShapes();

  constructor(codec: Codec) {
    this.#codec = codec;
    this.decoder = codec.decoder(this.#shapes);
  }

  /** The values of a snapshot, decoded as `decoder.declared` and `decoder.isBorrowing` say. */
  read({ count, inline, payload }: Snapshot): unknown[] {
    const { shapes } = this.#codec;
    const known = this.#shapes.size;
    if (known < shapes.size) {
      this.#shapes.add([known, ...shapes.keysFrom(known, shapes.size)]);
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
