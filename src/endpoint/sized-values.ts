/**
 * Values whose room is known before they are written: those without parts, typed arrays that are all of their
 * buffer, and those of a declared shape that always takes the same. As the only value of a record they can do
 * without what an encoder is for (growing, references, parts that move, places of what cannot be cloned), which is
 * half of what sending one takes. The bytes are the same.
 */
import { type BytesWriter, OnlyBytes } from "../codec/bytes.ts";
import { Output, type StructWriter } from "../codec/struct/output.ts";
import type { DeclaredValue } from "../codec/struct/signature.ts";
import type { StructCodec } from "../codec/struct/struct-codec.ts";
import { FALSE, NULL, STRUCT, TRUE, UNDEFINED, VALUE_HEADER_BYTES } from "../codec/tags.ts";
import { roomForText, type TextWriter, writeText } from "../codec/text.ts";
import type { Memory } from "../memory/views.ts";
import type { CodecAccess } from "../runtimes/runtime.ts";

/** The room for a value is not known beforehand, or too large. As `OnlyBytes` says it. */
export const UNSIZED = -1;

/** Longest string, in UTF-16 units: the room for longer ones is asked for as they need it. */
const MAX_UNITS = 512;

export class SizedValues {
  readonly #maxBytes: number;
  readonly #window: Window;
  readonly #bytes: OnlyBytes;
  readonly #output: Output;

  /** `maxBytes`: most that a record may carry, and a value may take. */
  constructor(memory: Memory, access: CodecAccess, maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#window = new Window(memory, access);
    this.#bytes = new OnlyBytes(access);
    this.#output = new Output(this.#window);
  }

  /** Bytes that a value takes at most, or UNSIZED. Runs no code of the user's. */
  roomFor(value: unknown, declared: DeclaredValue | undefined): number {
    let bytes: number;
    if (declared !== undefined) {
      if (!declared.codec.isFixed) return UNSIZED;
      bytes = VALUE_HEADER_BYTES + declared.codec.fixedBytes;
    } else if (typeof value === "object" && value !== null) {
      if (!ArrayBuffer.isView(value)) return UNSIZED;
      bytes = this.#bytes.roomFor(value);
    } else if (typeof value === "string") {
      if (value.length > MAX_UNITS) return UNSIZED;
      bytes = roomForText(value.length);
    } else if (value === undefined || value === null || typeof value === "boolean") {
      bytes = VALUE_HEADER_BYTES;
    } else return UNSIZED;
    return bytes <= this.#maxBytes ? bytes : UNSIZED;
  }

  /** Writes a value of no declared shape, for which there is room at `at`. Runs no code of the user's. */
  write(value: unknown, at: number): number {
    if (typeof value === "string") return writeText(this.#window, value, at);
    if (typeof value === "object" && value !== null) {
      return this.#bytes.write(this.#window, value, at);
    }
    this.#window.i32[at >> 2] = value === undefined
      ? UNDEFINED
      : value === null
      ? NULL
      : value === true
      ? TRUE
      : FALSE;
    return at + VALUE_HEADER_BYTES;
  }

  /** Writes an only value of this shape. Runs its getters; throws what they throw, and a Mismatch. */
  writeStruct(codec: StructCodec<unknown, unknown>, value: unknown, at: number): number {
    const { i32 } = this.#window;
    i32[at >> 2] = STRUCT;
    i32[(at >> 2) + 1] = codec.fixedBytes;
    return codec.write(this.#output, at + VALUE_HEADER_BYTES, value);
  }
}

/** Memory in which there is room for what is written. */
class Window implements TextWriter, BytesWriter, StructWriter {
  readonly memory: Memory;
  readonly i32: Int32Array<SharedArrayBuffer>;
  readonly f64: Float64Array<SharedArrayBuffer>;
  readonly u8: Uint8Array<SharedArrayBuffer>;
  readonly access: CodecAccess;

  constructor(memory: Memory, access: CodecAccess) {
    this.memory = memory;
    this.i32 = memory.i32;
    this.f64 = memory.f64;
    this.u8 = memory.u8;
    this.access = access;
  }

  room(at: number): number {
    return at;
  }
}
