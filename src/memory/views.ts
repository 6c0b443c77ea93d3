/**
 * One stretch of shared memory seen through every element type the codecs write.
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
