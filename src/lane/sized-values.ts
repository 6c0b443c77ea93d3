/**
 * Writes values directly into a claimed record: primitives, alone or in a list, and typed arrays that cover
 * all of their buffer. Writing them runs no user code, and their maximum size is known, so they need neither
 * an encoder nor its scratch memory. The bytes are the same as an encoder's.
 */
import { type BytesWriter, WholeBuffers } from "../codec/kinds/bytes.ts";
import { FALSE, INT, NULL, NUMBER, TRUE, UNDEFINED, VALUE_HEADER_BYTES } from "../codec/tags.ts";
import { roomForText, type TextWriter, writeText } from "../codec/kinds/text.ts";
import type { Memory } from "../memory/views.ts";
import type { CodecAccess } from "../runtimes/runtime.ts";

/** The size of the values is unknown or too large. `WholeBuffers` returns the same constant. */
export const UNSIZED = -1;

/**
 * Longest string, in UTF-16 units. Longer ones ask the encoder for room as they grow. By the encoder, which writes to memory of
 * its own that is copied, an echo of 1 to 20 KB takes 5 to 25 % longer, with a full ring as well.
 */
const MAX_UNITS = 16_384;
/** Longest list. The check of a longer one would cost more than it saves, as it may end with the encoder. */
const MAX_VALUES = 8;

export class SizedValues implements TextWriter, BytesWriter {
  readonly memory: Memory;
  readonly i32: Int32Array<SharedArrayBuffer>;
  readonly f64: Float64Array<SharedArrayBuffer>;
  readonly u8: Uint8Array<SharedArrayBuffer>;
  readonly access: CodecAccess;
  readonly #maxBytes: number;
  /** Made with the first typed array. */
  #bytes: WholeBuffers | undefined;

  /** `maxBytes`: the maximum of bytes for the values of one record. */
  constructor(memory: Memory, access: CodecAccess, maxBytes: number) {
    this.memory = memory;
    this.i32 = memory.i32;
    this.f64 = memory.f64;
    this.u8 = memory.u8;
    this.access = access;
    this.#maxBytes = maxBytes;
  }

  /** Room is already ensured: `roomFor` was called before. */
  room(at: number): number {
    return at;
  }

  /** The maximum size of these values in bytes, or UNSIZED. Runs no user code. */
  roomFor(values: readonly unknown[]): number {
    const { length } = values;
    if (length === 1) return this.roomForOne(values[0]);
    if (length > MAX_VALUES) return UNSIZED;
    let bytes = 0;
    for (let index = 0; index < length; index++) {
      const each = roomForPrimitive(values[index]);
      if (each === UNSIZED) return UNSIZED;
      bytes += each;
    }
    return bytes <= this.#maxBytes ? bytes : UNSIZED;
  }

  /** The same for a single value, which may be a typed array. */
  roomForOne(value: unknown): number {
    const bytes = typeof value === "object" && value !== null
      ? ArrayBuffer.isView(value)
        ? (this.#bytes ??= new WholeBuffers(this.access)).roomFor(value)
        : UNSIZED
      : roomForPrimitive(value);
    return bytes <= this.#maxBytes ? bytes : UNSIZED;
  }

  /** Writes a value at `at` and returns where it ends. `roomFor` must have been called for it just before. */
  write(value: unknown, at: number): number {
    switch (typeof value) {
      case "number":
        return this.#number(value, at);
      case "string":
        return writeText(this, value, at);
      case "object":
        if (value !== null) return this.#bytes!.write(this, value, at);
        this.i32[at >> 2] = NULL;
        break;
      case "undefined":
        this.i32[at >> 2] = UNDEFINED;
        break;
      default:
        this.i32[at >> 2] = value === true ? TRUE : FALSE;
    }
    return at + VALUE_HEADER_BYTES;
  }

  #number(value: number, at: number): number {
    const { i32 } = this;
    const integer = value | 0;
    if (integer === value && (integer !== 0 || 1 / value > 0)) {
      i32[at >> 2] = INT;
      i32[(at >> 2) + 1] = integer;
      return at + VALUE_HEADER_BYTES;
    }
    i32[at >> 2] = NUMBER;
    this.f64[(at >> 3) + 1] = value;
    return at + VALUE_HEADER_BYTES + 8;
  }
}

function roomForPrimitive(value: unknown): number {
  switch (typeof value) {
    case "number":
      return VALUE_HEADER_BYTES + 8;
    case "string":
      return value.length > MAX_UNITS ? UNSIZED : roomForText(value.length);
    case "boolean":
    case "undefined":
      return VALUE_HEADER_BYTES;
    default:
      return value === null ? VALUE_HEADER_BYTES : UNSIZED;
  }
}
