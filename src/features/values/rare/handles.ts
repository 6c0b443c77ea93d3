/** Handles of `heddle/shared`: what they stand for is shared, so only its buffer travels. */
import { HANDLE as KEY, type HandleParts } from "../../../realm/handles.ts";
import { loadShared } from "../../../shared-entry.ts";
import type { Reader } from "../../../codec/reader.ts";
import { HANDLE, VALUE_HEADER_BYTES } from "../../../codec/tags.ts";
import type { Writer } from "../../../codec/writer.ts";

type Handle = Readonly<Record<typeof KEY, HandleParts>>;

/** Writes a handle; -1: it is none. */
export function writeHandle(writer: Writer, object: object, from: number): number {
  if (!Object.hasOwn(object, KEY) || writer.access.kinds.isProxy(object)) return -1;
  if (!writer.mayAttach) throw writer.refuse(object, "handles travel in calls only");
  const { kind, buffer, departure } = (object as Handle)[KEY];
  if (departure !== undefined) writer.depart(departure);
  return writer.shared(buffer, writer.value(kind, writer.tag(HANDLE, from)));
}

export function readHandle(reader: Reader, at: number): object {
  const kind = reader.key(at + VALUE_HEADER_BYTES);
  const buffer = reader.value(reader.next);
  if (!reader.access.kinds.isSharedArrayBuffer(buffer)) throw reader.corrupt("handle", at);
  return loadShared(reader.access, `A shared ${kind} has arrived`).make(kind, buffer);
}
