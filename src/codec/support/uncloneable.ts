/** Objects that structured clone refuses whatever they contain: proxies, and those marked by `markAsUncloneable`. */
import type { Writer } from "../writer.ts";

const { hasOwn } = Object;

/** Throws for an object for which `ObjectKinds.isRefused` is true, unless it is marked and transferred. */
export function refuseObject(writer: Writer, object: object): void {
  if (writer.access.kinds.isProxy(object)) throw writer.refuse(object, "proxies cannot be cloned");
  if (!writer.isTransferred(object)) throw writer.refuse(object, "it is marked as uncloneable");
}

/** The same for an object with the runtime's mark, if that can be seen. ArrayBuffers can be cloned nevertheless. */
export function refuseMarked(writer: Writer, object: object): void {
  const { mark, isArrayBuffer } = writer.access.kinds;
  if (mark === undefined || !hasOwn(object, mark) || isArrayBuffer(object)) return;
  refuseObject(writer, object);
}
