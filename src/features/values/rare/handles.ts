/** Handles of `heddle/shared`: what they stand for is shared, so only its buffer travels. */
import { HANDLE as KEY, type HandleParts } from "../../../realm/handles.ts";
import { loadShared } from "../../../shared-entry.ts";
import type { Decoder } from "../../../codec/decoder.ts";
import { HANDLE, VALUE_HEADER_BYTES } from "../../../codec/tags.ts";
import type { Encoder } from "../../../codec/encoder.ts";

type Handle = Readonly<Record<typeof KEY, HandleParts>>;

/** Writes a handle; -1: it is none. */
export function writeHandle(encoder: Encoder, object: object, from: number): number {
  if (!Object.hasOwn(object, KEY) || encoder.access.kinds.isProxy(object)) return -1;
  const { copiesOnly, mayAttach } = encoder.options;
  if (copiesOnly !== undefined) throw encoder.refuse(object, copiesOnly);
  if (mayAttach === false) throw encoder.refuse(object, "handles travel in calls only");
  const { kind, buffer, departure } = (object as Handle)[KEY];
  if (departure !== undefined) encoder.attachments.depart(departure);
  return encoder.shared(buffer, encoder.value(kind, encoder.tag(HANDLE, from)));
}

export function readHandle(decoder: Decoder, at: number): object {
  const kind = decoder.key(at + VALUE_HEADER_BYTES);
  const buffer = decoder.value(decoder.next);
  if (!decoder.access.kinds.isSharedArrayBuffer(buffer)) throw decoder.corrupt("handle", at);
  return loadShared(decoder.access, `A shared ${kind} has arrived`).make(kind, buffer);
}
