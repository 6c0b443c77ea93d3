/**
 * Detects whether an array has enumerable properties besides its elements. `Object.keys` makes a string of each
 * index: 6 to 30 ns an element on V8, 30 to 90 on JavaScriptCore, more than all other work on a long array. `inspect`
 * with no element shown lists the other keys in 1 µs (Node, Bun) or 6 (Deno) at any length; the search for holes
 * takes 0.4 ns an element, and 5 on V8 until that loop is optimized.
 *
 * `inspect` formats the values of these keys. This may run two getters that structured clone does not run:
 * `Symbol.toStringTag` and the name of an error.
 */
import { process } from "../process/process.ts";
import type { ObjectKinds } from "../../runtime.ts";

/** Every option that matters, since users may change `inspect.defaultOptions`. `compact` would read elements. */
const INSPECT_OPTIONS = {
  maxArrayLength: 0,
  depth: 0,
  customInspect: false,
  getters: false,
  showHidden: false,
  compact: false,
  sorted: false,
} as const;

/** Holes after which the search of an array with more holes than elements stops, since its length is unbounded. */
const MANY_HOLES = 1024;
/** Length above which holes are counted even where clones are live. */
const MAX_UNSEEN_HOLES = 1 << 20;

const { getPrototypeOf, hasOwn, keys: keysOf } = Object;
const { ownKeys } = Reflect;
const ArrayPrototype = Array.prototype;
const ObjectPrototype = Object.prototype;

/**
 * `ObjectKinds.countIndices`, which uses `inspect` for arrays of at least `min` elements. With `clonesLive` holes count
 * as indices, since each is read later.
 */
export function inspectFrom(
  min: number,
  { clonesLive }: { readonly clonesLive: boolean },
): ObjectKinds["countIndices"] {
  return (array) => {
    const { length } = array;
    if (length < min || !isUsual(array)) return countIndicesByKeys(array);
    const isLive = clonesLive && length <= MAX_UNSEEN_HOLES;
    const count = isLive ? length : countPresent(array);
    return count >= 0 && showsNoKeys(array) ? count : countIndicesByKeys(array);
  };
}

let inspect: ((value: unknown, options: typeof INSPECT_OPTIONS) => string) | undefined;

/** Whether `inspect` shows the number of elements and nothing else. False if its format ever changes. */
export function showsNoKeys(array: readonly unknown[]): boolean {
  try {
    inspect ??= process.getBuiltinModule("node:util").inspect;
    return inspect(array, INSPECT_OPTIONS) === `[\n  ... ${array.length} more items\n]`;
  } catch {
    return false; // a value threw
  }
}

/** Whether `inspect` runs no code of the array's own (it reads its tag and class), and no element is inherited. */
function isUsual(array: readonly unknown[]): boolean {
  return getPrototypeOf(array) === ArrayPrototype && !(Symbol.toStringTag in array) &&
    !hasOwn(array, "constructor") && !hasOwn(Array, Symbol.hasInstance) &&
    ArrayPrototype.length === 0 && getPrototypeOf(ArrayPrototype) === ObjectPrototype &&
    !isIndex(ownKeys(ObjectPrototype)[0]); // indices come first
}

/** Number of elements without holes; -1 if listing the keys is faster for this few. Runs no getter. */
function countPresent(array: readonly unknown[]): number {
  const { length } = array;
  let holes = 0;
  for (let index = 0; index < length; index++) {
    if (!(index in array) && ++holes > MANY_HOLES && 2 * holes > index) return -1;
  }
  return length - holes;
}

/** Counts by `Object.keys`: indices come first, so the last key shows whether there are others. */
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
