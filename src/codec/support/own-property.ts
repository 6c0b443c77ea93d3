/**
 * Own properties, whatever the prototype has under their name. Descriptors are without a prototype: to
 * `Object.prototype` somebody may have given a `get`.
 */

/** Like `Object.defineProperty`. */
export function defineOwn(object: object, key: PropertyKey, descriptor: PropertyDescriptor): void {
  Object.defineProperty(object, key, { __proto__: null, ...descriptor } as PropertyDescriptor);
}

/** The value of an own property, undefined if there is none. Runs no getter. */
export function ownValue(object: object, key: PropertyKey): unknown {
  return Object.getOwnPropertyDescriptor(object, key)?.value;
}

/** A property that can be changed and deleted, as assigning makes them. */
export function defineValue(
  object: object,
  key: string,
  value: unknown,
  enumerable: boolean = true,
): void {
  Object.defineProperty(object, key, {
    __proto__: null,
    value,
    enumerable,
    writable: true,
    configurable: true,
  } as PropertyDescriptor);
}

/** Assigns if that makes a property of the object's own, as it mostly does: that is the quicker way. */
export function setOwn(object: object, key: string, value: unknown): void {
  if (key in object) defineValue(object, key, value);
  else (object as Record<string, unknown>)[key] = value;
}
