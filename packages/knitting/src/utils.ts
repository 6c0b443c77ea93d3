/**
 * Text, JSON and numbers as bytes in shared memory, as `knitting/utils` has them.
 *
 * @module
 */

/** Bytes: a buffer or a view of one. */
export type BufferLike = ArrayBuffer | SharedArrayBuffer | ArrayBufferView;

/** The typed array of each number format. */
export interface NumberArrays {
  /** 64-bit floating-point numbers. */
  readonly f64: Float64Array;
  /** 32-bit floating-point numbers. */
  readonly f32: Float32Array;
  /** 32-bit signed integers. */
  readonly i32: Int32Array;
}

/** Names of the number formats. */
export type NumberFormat = keyof NumberArrays;

/** Options of {@link numbersToBuffer} and {@link bufferToNumbers}. */
export interface NumberBufferOptions<Format extends NumberFormat = NumberFormat> {
  /** Format of the numbers. Default "f64". */
  readonly format?: Format;
}

const FORMATS = { f64: Float64Array, f32: Float32Array, i32: Int32Array } as const;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The bytes of `source`, not copied. Throws TypeError for anything else. */
export function bufferToBytes(source: BufferLike): Uint8Array {
  if (ArrayBuffer.isView(source)) {
    return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  }
  if (source instanceof ArrayBuffer || source instanceof SharedArrayBuffer) {
    return new Uint8Array(source);
  }
  throw new TypeError("Bytes must be an ArrayBuffer, a SharedArrayBuffer or a view of one.");
}

/** Copies bytes to shared memory. */
export function bytesToBuffer(source: BufferLike): SharedArrayBuffer {
  const bytes = bufferToBytes(source);
  const shared = new SharedArrayBuffer(bytes.byteLength);
  new Uint8Array(shared).set(bytes);
  return shared;
}

/** Decodes UTF-8. */
export function bufferToString(source: BufferLike): string {
  // A copy: decoders do not read shared memory.
  return decoder.decode(new Uint8Array(bufferToBytes(source)));
}

/** Encodes text as UTF-8. Throws TypeError for anything else. */
export function stringToBuffer(text: string): SharedArrayBuffer {
  if (typeof text !== "string") throw new TypeError("stringToBuffer() takes a string.");
  return bytesToBuffer(encoder.encode(text));
}

/** Decodes JSON. The type is not checked. */
export function bufferToJson<T = unknown>(source: BufferLike): T {
  return JSON.parse(bufferToString(source)) as T;
}

/** Encodes JSON. Throws TypeError if there is no JSON for the value. */
export function jsonToBuffer(value: unknown): SharedArrayBuffer {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) {
    throw new TypeError("jsonToBuffer(): the value is not JSON-serializable.");
  }
  return stringToBuffer(text);
}

/** Writes numbers side by side. */
export function numbersToBuffer(
  numbers: ArrayLike<number>,
  { format = "f64" }: NumberBufferOptions = {},
): SharedArrayBuffer {
  return bytesToBuffer(FORMATS[format].from(numbers));
}

/** Reads numbers, in place if they are aligned. Throws RangeError for part of a number. */
export function bufferToNumbers<Format extends NumberFormat = "f64">(
  source: BufferLike,
  options: NumberBufferOptions<Format> = {},
): NumberArrays[Format] {
  const format: NumberFormat = options.format ?? "f64";
  const size = FORMATS[format].BYTES_PER_ELEMENT;
  const bytes = bufferToBytes(source);
  if (bytes.byteLength % size !== 0) {
    throw new RangeError(
      `bufferToNumbers(): ${bytes.byteLength} bytes are not a multiple of ${size} (${format}).`,
    );
  }
  const { buffer, byteOffset } = bytes.byteOffset % size === 0 ? bytes : new Uint8Array(bytes);
  const Type = FORMATS[format] as typeof Float64Array;
  return new Type(buffer, byteOffset, bytes.byteLength / size) as unknown as NumberArrays[Format];
}
