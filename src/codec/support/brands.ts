/**
 * What tells the wrappers that callers put values in, of whatever copy of this library in this thread. A weak map: asking
 * it runs no trap of a proxy, and neither clones nor objects with a wrapper's prototype are in it.
 */

/** The list of what is to move marks a `Transfer`. */
export type Brand = readonly unknown[] | "envelope" | "loan";

const KEY = Symbol.for("heddle.brands");
const shared = globalThis as { [KEY]?: WeakMap<object, Brand> };
if (shared[KEY] === undefined) Object.defineProperty(globalThis, KEY, { value: new WeakMap() });
const brands = shared[KEY]!;

export function setBrand(object: object, brand: Brand): void {
  brands.set(object, brand);
}

export function brandOf(object: object): Brand | undefined {
  return brands.get(object);
}
