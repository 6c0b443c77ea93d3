/**
 * Layout of one encoded value, at an 8-aligned offset of a record's body or of a payload buffer.
 *
 *    0         1         2         4                   8
 *   +---------+---------+---------+-------------------+--------------------- - -
 *   | tag  u8 | kind u8 | flags   | aux           i32 | data, padded to 8
 *   +---------+---------+---------+-------------------+--------------------- - -
 *
 *   tag          aux              data
 *   UNDEFINED    –                –
 *   NULL         –                –
 *   FALSE, TRUE  –                –
 *   NUMBER       –                f64, the exact bits of -0, NaN and the infinities
 *   BIGINT_64    –                i64
 *   BIGINT_HEX   digits           one byte per hexadecimal digit; flags 1 = negative
 *   ONE_BYTE     UTF-16 units     one byte per unit (Latin-1), for short strings
 *   ASCII        bytes            one byte per unit, all below 128
 *   UTF8         bytes            well-formed UTF-8
 *   UTF16        UTF-16 units     two bytes per unit: strings with lone surrogates
 *   BYTES        –                kind = BytesKind; f64 length of the buffer in bytes; with flag
 *                                 PARTIAL then f64 byteOffset, f64 length of the view in elements;
 *                                 then the buffer's bytes
 *
 * The low 24 bits of the first word are tag | kind << 8 | flags << 16. Values follow one another
 * without a count; the frame says how many there are.
 */
export const UNDEFINED = 1;
export const NULL = 2;
export const FALSE = 3;
export const TRUE = 4;
export const NUMBER = 5;
export const BIGINT_64 = 6;
export const BIGINT_HEX = 7;
export const ONE_BYTE = 8;
export const ASCII = 9;
export const UTF8 = 10;
export const UTF16 = 11;
export const BYTES = 12;

/** Bytes of tag and aux. */
export const VALUE_HEADER_BYTES = 8;

/** Flag of BYTES: the view shows only a part of the buffer that travels. */
export const PARTIAL = 1;
/** Flag of BIGINT_HEX. */
export const NEGATIVE = 1;

/** What an encoder returns instead of an offset. */
export const NO_ROOM = -1;
/** The value is none of these kinds, or needs the identity of what it shares: send it cloned. */
export const UNSUPPORTED = -2;
