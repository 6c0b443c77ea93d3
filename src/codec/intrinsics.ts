/**
 * Getters and methods as the language made them: they read internal slots, so neither a subclass, a property of the
 * object's own nor a changed prototype can run code or lie.
 */

/** The getter behind `prototype[key]`, to be called on any object. */
export function getterOf<Value>(prototype: object, key: PropertyKey): (this: unknown) => Value {
  return Object.getOwnPropertyDescriptor(prototype, key)!.get as (this: unknown) => Value;
}

export const typedArrayPrototype = Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array;

/** `Float64Array` and so on; undefined for anything that is no typed array. */
export const typedArrayName: (this: unknown) => string | undefined = getterOf(
  typedArrayPrototype,
  Symbol.toStringTag,
);
/** Elements; 0 for a view that is out of bounds. */
export const typedArrayLength: (this: unknown) => number = getterOf(typedArrayPrototype, "length");
/** Bytes; 0 for a view that is out of bounds. */
export const typedArrayBytes: (this: unknown) => number = getterOf(
  typedArrayPrototype,
  "byteLength",
);
export const typedArrayBuffer: (this: unknown) => ArrayBufferLike = getterOf(
  typedArrayPrototype,
  "buffer",
);

export const typedArrayOffset: (this: unknown) => number = getterOf(
  typedArrayPrototype,
  "byteOffset",
);
const typedArrayAt: (this: unknown, index: number) => unknown = typedArrayPrototype.at;

export const bufferLength: (this: unknown) => number = getterOf(
  ArrayBuffer.prototype,
  "byteLength",
);
export const bufferIsDetached: (this: unknown) => boolean = getterOf(
  ArrayBuffer.prototype,
  "detached",
);
/** Throws TypeError for a buffer that cannot be detached. */
export const transferBuffer: (this: ArrayBuffer) => ArrayBuffer = ArrayBuffer.prototype.transfer;

/** Whether the bytes that a typed array shows are there: neither detached nor beyond the end of their buffer. */
export function isThere(view: unknown): boolean {
  try {
    typedArrayAt.call(view, 0);
    return true;
  } catch {
    return false; // nothing else about a view makes this throw
  }
}
