/** Strings of a given length. Decoded from bytes, so that none is a rope that is flattened later. */

const decoder = new TextDecoder();

/** ASCII; one byte per character in memory. */
export function asciiText(length: number, variant: number): string {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at++) bytes[at] = 97 + (at + variant) % 26;
  return decoder.decode(bytes);
}

/** Small Cyrillic letters; two bytes per character in memory and in UTF-8. */
export function cyrillicText(length: number, variant: number): string {
  const bytes = new Uint8Array(2 * length);
  for (let at = 0; at < length; at++) {
    // U+0430 to U+043F are D0 B0 to D0 BF.
    bytes[2 * at] = 0xd0;
    bytes[2 * at + 1] = 0xb0 + (at + variant) % 16;
  }
  return decoder.decode(bytes);
}
