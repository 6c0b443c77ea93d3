/**
 * Whether an array has enumerable properties besides its elements. The language answers by listing all keys, a string
 * for each index: 6 to 30 ns an element on V8, 30 to 90 on JavaScriptCore, which for long arrays is more than
 * everything else that is done with them. `inspect` with no element shown takes 1 µs (Node, Bun) or 6 (Deno) whatever
 * the length, and shows any other key there is; looking for holes takes 0.4 ns an element, and 5 (V8) until that loop has
 * been optimized for good.
 *
 * What it shows it formats. So one thing may run that structured clone does not: the getter of a `Symbol.toStringTag`,
 * or of an error's name, in the value of such another key of a long array.
 */
import { inspect } from "node:util";
import type { ObjectKinds } from "./runtime.ts";

/** All that changes what is shown: `inspect.defaultOptions` is the user's. Elements are read unless `compact` is off. */
const INSPECT_OPTIONS = {
  maxArrayLength: 0,
  depth: 0,
  customInspect: false,
  getters: false,
  showHidden: false,
  compact: false,
  sorted: false,
} as const;

/** More holes than elements, and than this: an array may be empty and of any length. */
const MANY_HOLES = 1024;

const { getPrototypeOf, hasOwn, keys: keysOf } = Object;
const { ownKeys } = Reflect;
const ArrayPrototype = Array.prototype;
const ObjectPrototype = Object.prototype;

/** Where holes are not looked for, a longer array is: it may be empty and of any length. */
const MAX_UNSEEN_HOLES = 1 << 20;

/**
 * `ObjectKinds.countIndices` by inspection of arrays from this length on. `clonesLive`: holes are counted as indices,
 * since each is asked for when its turn comes.
 */
export function inspectFrom(
  least: number,
  { clonesLive }: { readonly clonesLive: boolean },
): ObjectKinds["countIndices"] {
  return (array) => {
    const { length } = array;
    if (length < least || !isUsual(array)) return countIndicesByKeys(array);
    const isLive = clonesLive && length <= MAX_UNSEEN_HOLES;
    const count = isLive ? length : countPresent(array);
    return count >= 0 && showsNoKeys(array) ? count : countIndicesByKeys(array);
  };
}

/** Whether `inspect` shows nothing but how many elements there are. Should its format ever change: no. */
export function showsNoKeys(array: readonly unknown[]): boolean {
  try {
    return inspect(array, INSPECT_OPTIONS) === `[\n  ... ${array.length} more items\n]`;
  } catch {
    return false; // what it was to show threw
  }
}

/** Whether `inspect` runs no code for the array itself (it looks for a tag and a class), and no element is inherited. */
function isUsual(array: readonly unknown[]): boolean {
  return getPrototypeOf(array) === ArrayPrototype && !(Symbol.toStringTag in array) &&
    !hasOwn(array, "constructor") && !hasOwn(Array, Symbol.hasInstance) &&
    ArrayPrototype.length === 0 && getPrototypeOf(ArrayPrototype) === ObjectPrototype &&
    !isIndex(ownKeys(ObjectPrototype)[0]); // indices come first
}

/** How many elements are there, holes apart; -1: so few that listing their keys is quicker. Asks no getter. */
function countPresent(array: readonly unknown[]): number {
  const { length } = array;
  let holes = 0;
  for (let index = 0; index < length; index++) {
    if (!(index in array) && ++holes > MANY_HOLES && 2 * holes > index) return -1;
  }
  return length - holes;
}

/** Own enumerable keys come in order: indices first, so the last one tells whether there are others. */
export function countIndicesByKeys(array: readonly unknown[]): number {
  const { length } = array;
  const keys = keysOf(array);
  const count = keys.length;
  if (count === length && (count === 0 || keys[count - 1] === String(length - 1))) return count;
  return count === 0 || isIndex(keys[count - 1]!) ? count : -1;
}

/** Whether `key` is an array index in canonical form (below 2³² − 1). */
function isIndex(key: PropertyKey | undefined): boolean {
  return typeof key === "string" && /^(?:0|[1-9][0-9]{0,9})$/.test(key) &&
    Number(key) < 2 ** 32 - 1;
}
