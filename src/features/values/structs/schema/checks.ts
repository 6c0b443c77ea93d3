/** The checks of structs and arrays that generated writers and views call. */
import { propertyStep } from "../../../../codec/support/describe.ts";
import { lengthOfTyped, Mismatch } from "../codec/mismatch.ts";
import type { ArrayShape } from "./shape.ts";

/** Whether the optional field with presence bit `bit` is present. */
export function isPresent(i32: Int32Array, presenceAt: number, bit: number): boolean {
  return (i32[(presenceAt >> 2) + (bit >> 5)]! & (1 << (bit & 31))) !== 0;
}

/**
 * Whether every object inherits this key. Such a field counts as present only if it is an own property of
 * the value, and is defined on a result, not assigned, so `__proto__` is an ordinary field.
 */
export function isInheritedKey(key: string): boolean {
  return key in Object.prototype;
}

/** The value of such a key if it is an own property. */
export function ownValue(object: object, key: string): unknown {
  return Object.hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined;
}

const { getPrototypeOf } = Object;
const ObjectPrototype = Object.prototype;

export function hasPlainPrototype(object: object): boolean {
  return getPrototypeOf(object) === ObjectPrototype;
}

/**
 * Refuses own enumerable keys that the struct does not have. Comparing each key would double the time to write
 * a struct of eight numbers, so callers skip it for a plain object with exactly as many enumerable keys as were
 * read. These are the same keys, because such an object inherits no field. The exceptions are a field hidden
 * from enumeration and a field on `Object.prototype`: depending on `countKeys`, a runtime may then ignore the
 * same number of other keys, which another runtime refuses.
 */
export function checkEachKey(known: ReadonlySet<string>, object: object): void {
  for (const key of Object.keys(object)) {
    if (known.has(key)) continue;
    const names = [...known].join(", ");
    const error = new Mismatch(`absent (the struct has: ${names})`, "a key it does not have");
    error.path = propertyStep(key);
    throw error;
  }
}

/** Number of elements of an array, or of the matching typed array. Throws Mismatch for any other value. */
export function countElements(shape: ArrayShape, value: unknown, expected: string): number {
  const count = Array.isArray(value)
    ? value.length
    : lengthOfTyped(value, shape.arrayName, expected);
  // Only a proxy can have an invalid length.
  if (count >>> 0 !== count) throw new Mismatch(expected, "an array of impossible length");
  if (shape.max !== undefined && count > shape.max) {
    throw new Mismatch(expected, `${count} elements`);
  }
  return count;
}
