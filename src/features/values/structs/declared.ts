/** Structs as encoder and decoder use them. The code of a struct comes with its schema, perhaps from another copy of heddle. */
import type { Decoder } from "../../../codec/decoder.ts";
import type { DeclaredValue } from "../../../codec/declared.ts";
import type { Encoder } from "../../../codec/encoder.ts";
import { STRUCT, VALUE_HEADER_BYTES } from "../../../codec/tags.ts";
import { type Memory, viewMemory } from "../../../memory/views.ts";
import type { TextAccess } from "../../../runtimes/runtime.ts";

/** A source of values whose size is fixed. */
interface FixedInput {
  memory: Memory;
  limit: number;
  end: number;
}

/** Writes and reads the values of one declaration (`codec/struct-codec.ts`). */
interface DeclaredCodec {
  /** Bytes of the fixed part, a multiple of 8: the minimum size of a value. */
  readonly fixedBytes: number;
  /** Whether every value takes exactly `fixedBytes`. */
  readonly isFixed: boolean;
  /** A description: equal if and only if layout and keys are equal. */
  describe(): string;
  /** Writes `value` at `at`; returns its end. `located` converts what it throws to an error. */
  write(out: object, at: number, value: unknown): number;
  /** The destination for `write`, for any number of values and codecs. */
  createOutput(encoder: Encoder): object;
  /** The public error for what `write` threw, with the value called `path`. */
  located(error: unknown, path: string): unknown;
  read(memory: Memory, text: TextAccess, at: number, limit: number): unknown;
  /** The same for a codec with `isFixed`. `input` must have all `fixedBytes` at `at`. */
  readFixed(input: FixedInput, at: number): unknown;
  createInput(memory: Memory, text: TextAccess, limit: number): FixedInput;
  /** Creates a view of the value at `at`. The memory must stay unchanged until `revoke`. */
  view(memory: Memory, text: TextAccess, at: number, limit: number): unknown;
  revoke(view: object): void;
}

export class DeclaredStruct implements DeclaredValue {
  readonly codec: DeclaredCodec;
  readonly isView: boolean;

  constructor(codec: DeclaredCodec, isView: boolean) {
    this.codec = codec;
    this.isView = isView;
  }

  write(encoder: Encoder, position: number, value: unknown, from: number): number {
    const { codec } = this;
    const at = encoder.header(STRUCT | (position << 8), 0, from);
    let end: number;
    try {
      end = codec.write(encoder.structs ??= codec.createOutput(encoder), at, value);
    } catch (error) {
      const { list, name } = encoder;
      throw codec.located(error, list === undefined ? name : `${name}[${position}]`);
    }
    encoder.i32[(from >> 2) + 1] = end - at;
    return end;
  }
}

const NO_MEMORY: Memory = viewMemory(new SharedArrayBuffer(0));
/** Used again for each value of a fixed size. */
let input: FixedInput | undefined;

/** Reads STRUCT at `at`, whose first word is `word`. */
export function readStruct(decoder: Decoder, at: number, word: number): unknown {
  const position = (word >> 8) & 0xff;
  const declared = decoder.declared?.[position] as DeclaredStruct | undefined;
  if (declared === undefined) throw decoder.corrupt(`struct ${position}`, at);
  const { codec, isView } = declared;
  const start = at + VALUE_HEADER_BYTES;
  const bytes = decoder.count(at, 1);
  const end = decoder.next = start + bytes;
  if ((end & 7) !== 0) throw decoder.corrupt("length of a struct", at);
  const { access: { text }, memory } = decoder;
  if (codec.isFixed && !isView && bytes === codec.fixedBytes) {
    input ??= codec.createInput(memory, text, end);
    input.memory = memory;
    input.limit = input.end = end;
    const value = codec.readFixed(input, start);
    input.memory = NO_MEMORY;
    return value;
  }
  if (!isView) return codec.read(memory, text, start, end);
  if (!decoder.isBorrowing) {
    const copy = viewMemory(new SharedArrayBuffer(bytes));
    copy.u8.set(decoder.u8.subarray(start, end));
    return codec.view(copy, text, 0, bytes);
  }
  const view = codec.view(memory, text, start, end) as object;
  decoder.borrows.push({ revoke: () => codec.revoke(view) });
  return view;
}
