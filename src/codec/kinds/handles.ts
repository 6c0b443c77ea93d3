/** Handles of `heddle/shared`: what they stand for is shared, so only its buffer travels. */
import { DataCloneError } from "../../errors.ts";
import { HANDLE as KEY, handleMaker, type HandleParts } from "../../realm/handles.ts";
import type { ObjectKinds } from "../../runtimes/runtime.ts";
import type { Reader } from "../reader.ts";
import { HANDLE, VALUE_HEADER_BYTES } from "../tags.ts";
import type { Writer } from "../writer.ts";

type Handle = Readonly<Record<typeof KEY, HandleParts>>;

export function isHandle(kinds: ObjectKinds, object: object): object is Handle {
  return Object.hasOwn(object, KEY) && !kinds.isProxy(object);
}

export function writeHandle(writer: Writer, handle: Handle, from: number): number {
  const { kind, buffer } = handle[KEY];
  return writer.shared(buffer, writer.value(kind, writer.tag(HANDLE, from)));
}

export function readHandle(reader: Reader, at: number): object {
  const kind = reader.key(at + VALUE_HEADER_BYTES);
  const buffer = reader.value(reader.next);
  if (!reader.access.kinds.isSharedArrayBuffer(buffer)) throw reader.corrupt("handle", at);
  const make = handleMaker();
  if (make === undefined) {
    throw new DataCloneError(
      `A shared ${kind.split(":")[0]} has arrived in a thread that has not loaded heddle/shared: import "heddle/shared" in the module of the task.`,
    );
  }
  return make(kind, buffer);
}
