/**
 * Original getters and methods of the language. They read internal slots, so neither a subclass, an own property nor a
 * changed prototype can run code or fake their result.
 */

import { Error, TOO_OLD } from "../../builtins.ts";

type Getter<Value> = (this: unknown) => Value;

/** The getter behind `prototype[key]`, to be called on any object. Throws on runtimes that are too old to have it. */
export function getterOf<Value>(prototype: object, key: PropertyKey): Getter<Value> {
  const getter = Object.getOwnPropertyDescriptor(prototype, key)?.get;
  if (getter === undefined) throw new Error(TOO_OLD);
  return getter as Getter<Value>;
}

const TypedArray = Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array;

/** `Float64Array` and so on; undefined for any other value. */
export const typedArrayName: Getter<string | undefined> = getterOf(TypedArray, Symbol.toStringTag);
/** Elements; 0 for a view that is out of bounds. */
export const typedArrayLength: Getter<number> = getterOf(TypedArray, "length");
/** Bytes; 0 for a view that is out of bounds. */
export const typedArrayBytes: Getter<number> = getterOf(TypedArray, "byteLength");
export const typedArrayBuffer: Getter<ArrayBufferLike> = getterOf(TypedArray, "buffer");
export const typedArrayOffset: Getter<number> = getterOf(TypedArray, "byteOffset");
const typedArrayAt: (this: unknown, index: number) => unknown = TypedArray.at;

export const dataViewBuffer: Getter<ArrayBufferLike> = getterOf(DataView.prototype, "buffer");
export const bufferLength: Getter<number> = getterOf(ArrayBuffer.prototype, "byteLength");
export const bufferIsDetached: Getter<boolean> = getterOf(ArrayBuffer.prototype, "detached");
export const bufferIsResizable: Getter<boolean> = getterOf(ArrayBuffer.prototype, "resizable");
export const sharedIsGrowable: Getter<boolean> = getterOf(SharedArrayBuffer.prototype, "growable");
/** Throws TypeError for a buffer that cannot be detached. */
export const transferBuffer: (this: ArrayBuffer) => ArrayBuffer = ArrayBuffer.prototype.transfer;

/** Whether a typed array is accessible: neither detached nor out of bounds. */
export function isThere(view: unknown): boolean {
  try {
    typedArrayAt.call(view, 0);
    return true;
  } catch {
    return false; // the only reason for an exception here
  }
}

/** The first `bytes` bytes of a typed array, by a count taken before, since shared memory may grow meanwhile. */
export function bytesOf(view: unknown, bytes: number): Uint8Array {
  return new Uint8Array(typedArrayBuffer.call(view), typedArrayOffset.call(view), bytes);
}

const AsyncFunction = (async () => {}).constructor;

/** Whether a task may read its arguments in place. False for an async function, which may read later. */
export function mayBorrow(f: unknown): boolean {
  return !(f instanceof AsyncFunction);
}
