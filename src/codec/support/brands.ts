/**
 * Brands that identify wrappers made by any copy of this library in this thread. They are in a weak map: a look-up runs
 * no trap of a proxy, and neither clones nor objects with a wrapper's prototype are in it.
 */
import { WeakMap } from "../../builtins.ts";

/** A list marks a `Transfer` and contains the objects to transfer. A function marks a callback and is what tasks call. */
export type Brand =
  | readonly unknown[]
  | ((...args: unknown[]) => unknown)
  | "envelope"
  | "borrow"
  | "reference"
  | "stream";

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
