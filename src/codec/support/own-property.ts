/**
 * Own properties, independent of the prototype's properties of the same name. Descriptors have no prototype,
 * since `Object.prototype` may have been given a `get`.
 */

/** Like `Object.defineProperty`. */
export function defineOwn(object: object, key: PropertyKey, descriptor: PropertyDescriptor): void {
  Object.defineProperty(object, key, { __proto__: null, ...descriptor } as PropertyDescriptor);
}

/** The value of an own property, undefined if there is none. Runs no getter. */
export function ownValue(object: object, key: PropertyKey): unknown {
  return Object.getOwnPropertyDescriptor(object, key)?.value;
}

/** Defines a property that can be changed and deleted, like one made by assignment. */
export function defineValue(
  object: object,
  key: PropertyKey,
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

/** Sets an own property. Assigns if that creates an own property, which is faster, and defines it otherwise. */
export function setOwn(object: object, key: PropertyKey, value: unknown): void {
  if (key in object) defineValue(object, key, value);
  else (object as Record<PropertyKey, unknown>)[key] = value;
}
