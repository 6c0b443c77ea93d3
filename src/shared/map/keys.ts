/** Keys of maps: texts, numbers and bigints, compared as `Map` does. A bigint is kept as its digits. */
import type { Memory } from "../../memory/views.ts";
import { invalid, show } from "../../option-checks.ts";
import { KEY_UNITS, ORDER } from "./layout.ts";

/** What a key of a shared map may be. */
export type Key = string | number | bigint;

const NUMBER = 0;
const ONE_BYTE = 1;
const TWO_BYTE = 2;
const BIGINT = 3;

const NAN_HASH = 0x7ff8;

const numberMemory = new Float64Array(1);
const numberWords = new Int32Array(numberMemory.buffer);

/** A key, ready to be looked up. */
export interface HashedKey {
  readonly kind: number;
  readonly hash: number;
  readonly text: string;
  readonly number: number;
}

/** Mixes bits so that each depends on all: the end of MurmurHash3 (Appleby). */
function mix(hash: number): number {
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return hash ^ (hash >>> 16);
}

/**
 * Throws InvalidArgumentError for what cannot be a key. `seed`: the map's, so that nobody outside can choose keys of one hash.
 */
export function hashKey(key: Key, seed: number): HashedKey {
  if (typeof key === "number") {
    const number = key === 0 ? 0 : key; // -0 is 0
    numberMemory[0] = number;
    if (number !== number) return { kind: NUMBER, hash: NAN_HASH, text: "", number }; // it has many bits
    const hash = mix(seed ^ numberWords[0]! ^ Math.imul(numberWords[1]!, 0x9e37_79b1));
    return { kind: NUMBER, hash, text: "", number };
  }
  const isBigInt = typeof key === "bigint";
  if (!isBigInt && typeof key !== "string") {
    throw invalid("A key of a shared map", "a string, a number or a bigint", show(key));
  }
  const text = String(key);
  let hash = mix(seed ^ (isBigInt ? 0x1234_5678 : 0x811c_9dc5));
  let all = 0;
  // FNV-1a, by UTF-16 units (Fowler, Noll, Vo).
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    all |= unit;
    hash = Math.imul(hash ^ unit, 0x0100_0193);
  }
  const kind = isBigInt ? BIGINT : all < 256 ? ONE_BYTE : TWO_BYTE;
  return { kind, hash: mix(hash), text, number: 0 };
}

/** Bytes that a key takes in an entry. */
export function keyBytes({ kind, text }: HashedKey): number {
  if (kind === NUMBER) return 8;
  return (kind === TWO_BYTE ? 2 * text.length : text.length) + 7 & ~7;
}

/** The same of an entry at this word. */
export function keyBytesAt({ i32 }: Memory, word: number): number {
  const kind = i32[word + ORDER]! >> 8;
  const units = i32[word + KEY_UNITS]!;
  return kind === NUMBER ? 8 : (kind === TWO_BYTE ? 2 * units : units) + 7 & ~7;
}

/** Writes a key at a byte, and its kind and length into the entry at this word. */
export function writeKey(
  memory: Memory,
  word: number,
  order: number,
  key: HashedKey,
  at: number,
): void {
  const { kind, text } = key;
  memory.i32[word + ORDER] = order | kind << 8;
  memory.i32[word + KEY_UNITS] = text.length;
  if (kind === NUMBER) memory.f64[at >> 3] = key.number;
  else if (kind === TWO_BYTE) {
    for (let unit = 0; unit < text.length; unit++) {
      memory.u16[(at >> 1) + unit] = text.charCodeAt(unit);
    }
  } else {for (let unit = 0; unit < text.length; unit++) {
      memory.u8[at + unit] = text.charCodeAt(unit);
    }}
}

/** Whether the entry at this word, whose key is at byte `at`, has this key. */
export function isKeyAt(memory: Memory, word: number, key: HashedKey, at: number): boolean {
  const { kind, text } = key;
  if (memory.i32[word + ORDER]! >> 8 !== kind) return false;
  if (kind === NUMBER) return Object.is(memory.f64[at >> 3], key.number);
  if (memory.i32[word + KEY_UNITS] !== text.length) return false;
  if (kind === TWO_BYTE) {
    for (let unit = 0; unit < text.length; unit++) {
      if (memory.u16[(at >> 1) + unit] !== text.charCodeAt(unit)) return false;
    }
    return true;
  }
  for (let unit = 0; unit < text.length; unit++) {
    if (memory.u8[at + unit] !== text.charCodeAt(unit)) return false;
  }
  return true;
}

/** The key of the entry at this word. */
export function readKey(memory: Memory, word: number, at: number): Key {
  const kind = memory.i32[word + ORDER]! >> 8;
  if (kind === NUMBER) return memory.f64[at >> 3]!;
  const units = memory.i32[word + KEY_UNITS]!;
  let text = "";
  for (let unit = 0; unit < units; unit++) {
    text += String.fromCharCode(
      kind === TWO_BYTE ? memory.u16[(at >> 1) + unit]! : memory.u8[at + unit]!,
    );
  }
  return kind === BIGINT ? BigInt(text) : text;
}
