/**
 * A range of shared memory with a view for every element type that the codecs write.
 *
 * Fixed-length views: length-tracking views on growable buffers index more slowly, and a fixed view
 * does not follow `grow()`. Offsets into a `Memory` are bytes from its start, a multiple of 8.
 */
export interface Memory {
  readonly i32: Int32Array<SharedArrayBuffer>;
  readonly f64: Float64Array<SharedArrayBuffer>;
  readonly i64: BigInt64Array<SharedArrayBuffer>;
  readonly u16: Uint16Array<SharedArrayBuffer>;
  readonly u8: Uint8Array<SharedArrayBuffer>;
}

/** Views of `byteLength` bytes of `buffer` from `byteOffset`; both multiples of 8. */
export function viewMemory(
  buffer: SharedArrayBuffer,
  byteOffset = 0,
  byteLength: number = buffer.byteLength - byteOffset,
): Memory {
  return {
    i32: new Int32Array(buffer, byteOffset, byteLength / 4),
    f64: new Float64Array(buffer, byteOffset, byteLength / 8),
    i64: new BigInt64Array(buffer, byteOffset, byteLength / 8),
    u16: new Uint16Array(buffer, byteOffset, byteLength / 2),
    u8: new Uint8Array(buffer, byteOffset, byteLength),
  };
}

/** Size in bytes up to which a loop is faster than a view of the source and a native copy. */
const MAX_LOOP_BYTES = 256;

/** Copies the first `bytes` bytes of `from`, a multiple of 8, to byte `at` of `to`. Copies 32 bits at a time: doubles might change the bits of a NaN. */
export function copyWords(from: Memory, to: Memory, at: number, bytes: number): void {
  if (bytes > MAX_LOOP_BYTES) {
    to.u8.set(from.u8.subarray(0, bytes), at);
    return;
  }
  const source = from.i32;
  const target = to.i32;
  const start = at >> 2;
  const words = bytes >> 2;
  for (let word = 0; word < words; word++) target[start + word] = source[word]!;
}
