/** `heddle/knitting/utils`: text, JSON and numbers as bytes in shared memory. */

/** Bytes: a buffer or a view of one. */
export type BufferLike = ArrayBuffer | SharedArrayBuffer | ArrayBufferView;

export type NumberFormat = "f64" | "f32" | "i32";

export interface NumberBufferOptions {
  /** Default "f64". */
  readonly format?: NumberFormat;
}

interface NumberArray {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, byteOffset?: number, length?: number):
    & (Float64Array | Float32Array | Int32Array)
    & { set(numbers: ArrayLike<number>): void };
}

const FORMATS: Readonly<Record<NumberFormat, NumberArray>> = {
  f64: Float64Array,
  f32: Float32Array,
  i32: Int32Array,
};

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
  const Type = FORMATS[format];
  const shared = new SharedArrayBuffer(numbers.length * Type.BYTES_PER_ELEMENT);
  new Type(shared).set(numbers);
  return shared;
}

/** Reads numbers, in place if they are aligned. Throws RangeError for part of a number. */
export function bufferToNumbers(
  source: BufferLike,
  options?: { readonly format?: "f64" },
): Float64Array;
export function bufferToNumbers(
  source: BufferLike,
  options: { readonly format: "f32" },
): Float32Array;
export function bufferToNumbers(
  source: BufferLike,
  options: { readonly format: "i32" },
): Int32Array;
export function bufferToNumbers(
  source: BufferLike,
  { format = "f64" }: NumberBufferOptions = {},
): Float64Array | Float32Array | Int32Array {
  const Type = FORMATS[format];
  const size = Type.BYTES_PER_ELEMENT;
  const bytes = bufferToBytes(source);
  if (bytes.byteLength % size !== 0) {
    throw new RangeError(
      `bufferToNumbers(): ${bytes.byteLength} bytes are not a multiple of ${size} (${format}).`,
    );
  }
  const aligned = bytes.byteOffset % size === 0 ? bytes : new Uint8Array(bytes);
  return new Type(aligned.buffer, aligned.byteOffset, aligned.byteLength / size);
}
