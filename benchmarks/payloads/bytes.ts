/** Bytes of a given length. */
import { Buffer } from "node:buffer";

export function byteArray(length: number, variant: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at++) bytes[at] = at * 7 + variant;
  return bytes;
}

/**
 * A `Buffer` on memory of its own. One out of Node's pool would make `postMessage` clone the pool's
 * 8 KiB along.
 */
export function nodeBuffer(length: number, variant: number): Buffer {
  return Buffer.from(byteArray(length, variant).buffer);
}
