/** Arrays with holes, or with properties besides the elements: as a list of entries. */
import type { Decoder } from "../../../../codec/decoder.ts";
import type { Encoder } from "../../../../codec/encoder.ts";
import { setOwn } from "../../../../codec/support/own-property.ts";
import { SPARSE, VALUE_HEADER_BYTES } from "../../../../codec/tags.ts";

/** For longer arrays with many holes the reader sets the length last, so that holes take no memory. */
const MANY_HOLES = 1 << 12;

const { hasOwn, keys: keysOf } = Object;

export function writeSparse(encoder: Encoder, array: readonly unknown[], from: number): number {
  const keys = keysOf(array);
  const last = keys.at(-1); // indices come first
  const hasIndicesOnly = String(Number(last) >>> 0) === last && last !== String(2 ** 32 - 1);
  let at = encoder.double(SPARSE, array.length, from);
  let entries = 0;
  for (const key of keys) {
    if (!hasOwn(array, key)) continue;
    const value = (array as unknown as Record<string, unknown>)[key];
    at = encoder.value(value, encoder.value(hasIndicesOnly ? Number(key) : key, at));
    entries++;
  }
  encoder.i32[(from >> 2) + 1] = entries;
  return at;
}

/** Reads SPARSE at `at`, whose first word is `word`. */
export function readSparse(decoder: Decoder, at: number, word: number): unknown[] {
  const length = decoder.double(at);
  if (!Number.isInteger(length) || length < 0 || length >= 2 ** 32) {
    throw decoder.corrupt(`length ${length}`, at);
  }
  const entries = decoder.count(at, 2 * VALUE_HEADER_BYTES, VALUE_HEADER_BYTES + 8);
  const array: unknown[] = decoder.noted(at, word, []);
  if (length - entries > MANY_HOLES || !decoder.mayReserve(length)) makeSparse(array);
  array.length = length;
  decoder.next = at + VALUE_HEADER_BYTES + 8;
  for (let entry = 0; entry < entries; entry++) {
    const key = decoder.value(decoder.next);
    const value = decoder.value(decoder.next);
    const isIndex = typeof key === "number" && Number.isInteger(key) && key >= 0 && key < length;
    if (!isIndex && (typeof key !== "string" || key === "length")) {
      throw decoder.corrupt("array key", at);
    }
    setOwn(array, key, value);
  }
  return array;
}

/** Makes the engine store elements in a hash table, so that setting the length takes no memory for holes. */
function makeSparse(array: unknown[]): void {
  array[2 ** 32 - 2] = undefined;
  array.length = 0;
}
