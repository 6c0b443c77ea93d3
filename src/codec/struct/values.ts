/** What the interpreted and the compiled writers ask about a value, and how a result gets its keys. */
import { lengthOfTyped, Mismatch } from "./mismatch.ts";
import { propertyStep } from "../path.ts";
import type { ArrayShape } from "./shape.ts";

/**
 * Keys that every object inherits. They count as given only if the value has them itself, and are
 * defined on a result, not assigned: `__proto__` is a field like any other.
 */
export function isInheritedKey(key: string): boolean {
  return key in Object.prototype;
}

/** The value of an inherited key if it is the object's own. */
export function ownValue(object: object, key: string): unknown {
  return Object.hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined;
}

const { getPrototypeOf } = Object;
const ObjectPrototype = Object.prototype;

export function hasPlainPrototype(object: object): boolean {
  return getPrototypeOf(object) === ObjectPrototype;
}

/**
 * Refuses own enumerable keys that the struct does not have. It is skipped for a plain object with just
 * as many enumerable keys as were read: they are the same ones, because such an object inherits no
 * field, unless somebody took the trouble to hide a field from enumeration, or gave `Object.prototype`
 * one (as `countKeys` counts them, a runtime may then let as many other keys pass, unsent, where another
 * refuses them). Comparing each key would double the time to write a struct of eight numbers.
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

/** Elements of a real array, or of the typed array that matches. Throws Mismatch for anything else. */
export function countElements(shape: ArrayShape, value: unknown, expected: string): number {
  const count = Array.isArray(value)
    ? value.length
    : lengthOfTyped(value, shape.arrayName, expected);
  // Only a proxy has a length that is none.
  if (count >>> 0 !== count) throw new Mismatch(expected, "an array of impossible length");
  if (shape.max !== undefined && count > shape.max) {
    throw new Mismatch(expected, `${count} elements`);
  }
  return count;
}
