/**
 * The codec: writes one value at an offset of shared memory and reads it back, exactly.
 *
 * It knows no transport: offsets may lie in a ring record or in a payload buffer. Encoding runs no
 * user code. What it has no exact encoding for it refuses (UNSUPPORTED), and the endpoint sends that
 * by structured clone instead. Decoding checks every length against the end of what it was given.
 */
import { align8 } from "../memory/align.ts";
import type { Memory } from "../memory/views.ts";
import type { ByteAccess, TextAccess } from "../runtimes/runtime.ts";
import { ProtocolError } from "../errors.ts";
import {
  bytesBound,
  decodeBytes,
  type DecodedBytes,
  encodeBytes,
  underlyingBuffer,
} from "./bytes.ts";
import { normalizeNumber } from "./numbers.ts";
import {
  ASCII,
  BIGINT_64,
  BIGINT_HEX,
  BYTES,
  FALSE,
  NEGATIVE,
  NO_ROOM,
  NULL,
  NUMBER,
  ONE_BYTE,
  TRUE,
  UNDEFINED,
  UNSUPPORTED,
  UTF16,
  UTF8,
  VALUE_HEADER_BYTES,
} from "./tags.ts";
import { decodeOneByte, decodeUtf16, encodeText, textBound } from "./text.ts";

export class Codec {
  /** After `decode`: offset of the next value. */
  next = 0;

  readonly bytes: ByteAccess;
  readonly #text: TextAccess;
  readonly #decodedBytes: DecodedBytes = { value: undefined, end: 0 };

  constructor(text: TextAccess, bytes: ByteAccess) {
    this.#text = text;
    this.bytes = bytes;
  }

  /** Writes `value` into `[offset…limit)`. Returns the next offset, NO_ROOM or UNSUPPORTED. */
  encode(memory: Memory, offset: number, limit: number, value: unknown): number {
    const slot = offset >> 2;
    switch (typeof value) {
      case "number":
        if (offset + 16 > limit) return NO_ROOM;
        memory.i32[slot] = NUMBER;
        memory.f64[(offset >> 3) + 1] = value;
        return offset + 16;
      case "string":
        return encodeText(this.#text, memory, offset, limit, value);
      case "undefined":
        return this.#encodeTag(memory, offset, limit, UNDEFINED);
      case "boolean":
        return this.#encodeTag(memory, offset, limit, value ? TRUE : FALSE);
      case "object":
        if (value === null) return this.#encodeTag(memory, offset, limit, NULL);
        return encodeBytes(this.bytes, memory, offset, limit, value);
      case "bigint":
        return this.#encodeBigInt(memory, offset, limit, value);
      default:
        return UNSUPPORTED;
    }
  }

  /** Reads the value at `offset`, which ends before `limit`; sets `next`. */
  decode(memory: Memory, offset: number, limit: number): unknown {
    if (offset + VALUE_HEADER_BYTES > limit) throw corrupt("start", offset);
    const slot = offset >> 2;
    const word = memory.i32[slot]!;
    switch (word & 0xff) {
      case NUMBER:
        if (offset + 16 > limit) throw corrupt("number", offset);
        this.next = offset + 16;
        return normalizeNumber(memory.f64[(offset >> 3) + 1]!);
      case UNDEFINED:
        this.next = offset + 8;
        return undefined;
      case NULL:
        this.next = offset + 8;
        return null;
      case FALSE:
        this.next = offset + 8;
        return false;
      case TRUE:
        this.next = offset + 8;
        return true;
      case BIGINT_64:
        if (offset + 16 > limit) throw corrupt("bigint", offset);
        this.next = offset + 16;
        return memory.i64[(offset >> 3) + 1];
      case BYTES: {
        const decoded = this.#decodedBytes;
        decodeBytes(this.bytes, memory, offset, limit, word, decoded);
        this.next = decoded.end;
        const value = decoded.value;
        decoded.value = undefined;
        return value;
      }
      default:
        return this.#decodeText(memory, offset, limit, word);
    }
  }

  /** Reads `count` values that follow one another from `offset`. */
  decodeAll(memory: Memory, offset: number, limit: number, count: number): unknown[] {
    const values: unknown[] = [];
    let at = offset;
    for (let index = 0; index < count; index++) {
      values.push(this.decode(memory, at, limit));
      at = this.next;
    }
    return values;
  }

  /** Bytes that surely hold `value`, or UNSUPPORTED. Exact but for strings. */
  bound(value: unknown): number {
    switch (typeof value) {
      case "number":
        return 16;
      case "string":
        return textBound(value);
      case "bigint":
        return bigIntBound(value);
      case "undefined":
      case "boolean":
        return VALUE_HEADER_BYTES;
      case "object":
        return value === null ? VALUE_HEADER_BYTES : bytesBound(this.bytes, value);
      default:
        return UNSUPPORTED;
    }
  }

  /**
   * Whether any two of the values look at the same buffer. Encoded one by one they would arrive with
   * a copy each, where structured clone keeps them on one.
   */
  hasSharedBuffers(values: readonly unknown[]): boolean {
    let seen: object[] | undefined;
    for (const value of values) {
      if (typeof value !== "object" || value === null) continue;
      const buffer = underlyingBuffer(this.bytes, value);
      if (buffer === undefined) continue;
      if (seen === undefined) seen = [buffer];
      else if (seen.includes(buffer)) return true;
      else seen.push(buffer);
    }
    return false;
  }

  #encodeTag(memory: Memory, offset: number, limit: number, tag: number): number {
    if (offset + VALUE_HEADER_BYTES > limit) return NO_ROOM;
    memory.i32[offset >> 2] = tag;
    return offset + VALUE_HEADER_BYTES;
  }

  #encodeBigInt(memory: Memory, offset: number, limit: number, value: bigint): number {
    const data = offset + VALUE_HEADER_BYTES;
    if (BigInt.asIntN(64, value) === value) {
      if (data + 8 > limit) return NO_ROOM;
      memory.i32[offset >> 2] = BIGINT_64;
      memory.i64[data >> 3] = value;
      return data + 8;
    }
    const digits = (value < 0n ? -value : value).toString(16);
    const end = align8(data + digits.length);
    if (end > limit) return NO_ROOM;
    for (let digit = 0; digit < digits.length; digit++) {
      memory.u8[data + digit] = digits.charCodeAt(digit);
    }
    memory.i32[offset >> 2] = BIGINT_HEX | ((value < 0n ? NEGATIVE : 0) << 16);
    memory.i32[(offset >> 2) + 1] = digits.length;
    return end;
  }

  #decodeText(memory: Memory, offset: number, limit: number, word: number): unknown {
    const start = offset + VALUE_HEADER_BYTES;
    const tag = word & 0xff;
    const length = memory.i32[(offset >> 2) + 1]!;
    const bytes = tag === UTF16 ? 2 * length : length;
    if (length < 0 || start + bytes > limit) throw corrupt(`length ${length}`, offset);
    this.next = align8(start + bytes);
    switch (tag) {
      case ONE_BYTE:
        return decodeOneByte(memory, start, length);
      case ASCII:
        return this.#text.readAscii(memory.u8, start, start + bytes);
      case UTF8:
        return this.#text.readUtf8(memory.u8, start, start + bytes);
      case UTF16:
        return decodeUtf16(memory, start, length);
      case BIGINT_HEX: {
        const digits = this.#text.readAscii(memory.u8, start, start + bytes);
        if (!/^[0-9a-f]+$/.test(digits)) throw corrupt("bigint digits", offset);
        const value = BigInt(`0x${digits}`);
        return ((word >> 16) & 0xff) === NEGATIVE ? -value : value;
      }
      default:
        throw corrupt(`tag ${tag}`, offset);
    }
  }
}

function bigIntBound(value: bigint): number {
  if (BigInt.asIntN(64, value) === value) return 16;
  return VALUE_HEADER_BYTES + align8((value < 0n ? -value : value).toString(16).length);
}

function corrupt(what: string, offset: number): ProtocolError {
  return new ProtocolError(`Encoded value at offset ${offset} is corrupt: impossible ${what}.`);
}
