/** Messages between processes as bytes, by the codec of the rings: all that heddle posts to threads, without what only threads share. */
import { unpack } from "../../../codec/codec.ts";
import { Encoder } from "../../../codec/encoder.ts";
import { writeBytes } from "../../../codec/kinds/bytes.ts";
import { COPIES_ONLY } from "../../../codec/support/refusal.ts";
import { SharedBuffers } from "../../../codec/support/shared-buffers.ts";
import { BUFFER } from "../../../codec/tags.ts";
import type { CodecAccess } from "../../../runtimes/runtime.ts";

/** Memory of values that heddle itself has encoded is shared between threads; a process gets a copy. */
class MessageEncoder extends Encoder {
  override shared(buffer: SharedArrayBuffer, from: number): number {
    const { byteLength } = buffer;
    return writeBytes(this, BUFFER, new Uint8Array(buffer), byteLength, from);
  }
}

/** Throws DataCloneError for what no other process can get. */
export function encodeMessage(access: CodecAccess, message: unknown): Uint8Array {
  const encoder = new MessageEncoder({
    access,
    keyLists: undefined,
    sharedBuffers: new SharedBuffers(0),
    maxPayloadBytes: Infinity,
    allowsBorrow: false,
    copiesOnly: COPIES_ONLY,
  });
  encoder.name = "message";
  const end = encoder.root(message, encoder.begin());
  return encoder.u8.slice(0, end);
}

export const decodeMessage: (access: CodecAccess, bytes: Uint8Array) => unknown = unpack;
