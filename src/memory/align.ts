/** Alignment arithmetic for shared memory. Records and fields start on 8-byte boundaries. */

/** Bytes to the next independently written line. 128, not 64: the prefetcher pulls line pairs. */
export const CACHE_LINE = 128;

/** `bytes` rounded up to a multiple of 8, where every record and value starts. Exact for 0 ≤ bytes ≤ 2³¹ − 8. */
export function align8(bytes: number): number {
  return (bytes + 7) & ~7;
}

/** `bytes` rounded up to a multiple of 8, for sizes that may exceed 31 bits. */
export function align8Large(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}
