/**
 * Layout of one encoded value, at an 8-aligned offset of a record's body or of a payload buffer.
 *
 *    0         1         2         3         4                   8
 *   +---------+---------+---------+---------+-------------------+--------------------- - -
 *   | tag  u8 | kind u8 | flags   | 0       | aux           i32 | data, padded to 8
 *   +---------+---------+---------+---------+-------------------+--------------------- - -
 *
 *   tag          aux              data
 *   UNDEFINED    –                –
 *   NULL         –                –
 *   FALSE, TRUE  –                –
 *   INT          the number       –                (not -0)
 *   NUMBER       –                f64, the exact bits of -0, NaN and the infinities
 *   BIGINT_64    –                i64
 *   BIGINT_HEX   –                value: its hexadecimal digits, after a minus sign if it is negative
 *   ONE_BYTE     UTF-16 units     one byte per unit (Latin-1); flag NO_HIGH: known to be ASCII
 *   TWO_BYTE     UTF-16 units     two bytes per unit, little-endian: lone surrogates stay what they are
 *   SYMBOL       –                value: the key in the global symbol registry
 *   REF          offset / 8       –   the value at this offset from the first value, seen before;
 *                                     kind 1: the buffer that value is a view of
 *   HOLE         –                –   in arrays: no element; in a PARTIAL object: no such property
 *   OBJECT       key list            values in the order of the key list's keys; flag PARTIAL
 *   KEYED        properties       per property: value (key), value
 *   ARRAY        length           values
 *   SPARSE       entries          f64 length; per entry: value (an index, or a key), value
 *   INTS         length           i32 per element
 *   DOUBLES      length           f64 per element
 *   MAP          entries          per entry: value (key), value
 *   SET          elements         values
 *   DATE         –                f64 time value
 *   REGEXP       –                values: source, flags
 *   BOXED        –                value: the primitive
 *   ERROR        properties       values: type, name, message, stack; then per property: value (key), value; flags: the
 *                                 number of those at the start that are not enumerable
 *   BUFFER       –                f64 length in bytes; bytes
 *   RESIZABLE    –                f64 length in bytes; f64 maximum; bytes
 *   BYTES        –                kind = ViewKind: a view of the whole of a fixed buffer of its own, or a
 *                                 Node Buffer; f64 length in bytes; bytes
 *   VIEW         –                kind = ViewKind; f64 byteOffset; f64 length in elements (flag TRACKING:
 *                                 as long as its buffer); value: the buffer
 *   ATTACHMENT   index            –   the object at this index of the payload message
 *   SHARED       index            f64 id; the SharedArrayBuffer at this index of the payload message
 *   ENVELOPE     –                values: header, payload
 *   BORROWED         –                f64 length; bytes, to be read in place
 *   STRUCT       bytes            kind = position among the declared arguments; the layout of a schema that
 *                                 both sides know (features/values/structs/schema/shape.ts)
 *   TEXTS        offset / 8       value: an object; at this offset from here the texts of the TEXTs in it
 *                                 (kinds/text.ts). 0: it has none
 *   TEXT         UTF-16 units     –   the next so many units of those texts
 *   STREAM       index            kind = 1: a ReadableStream; the items of this stream of the call come by messages;
 *                                 kind = 2: a function, this callback of the call; 3, 4: a listener, an object of a worker, by number
 *   HANDLE       –                values: kind, SHARED: an object of heddle/shared (realm/handles.ts)
 *   PENDING      –                –   an argument that was not known yet: its value comes behind all others
 *
 * Flag REFERENCED, on any object: a later REF refers to it. Values follow one another without a count; the
 * frame contains their number. Offsets are relative, so encoded values can be moved.
 */
export const UNDEFINED = 1;
export const NULL = 2;
export const FALSE = 3;
export const TRUE = 4;
export const INT = 5;
export const NUMBER = 6;
export const BIGINT_64 = 7;
export const BIGINT_HEX = 8;
export const ONE_BYTE = 9;
export const TWO_BYTE = 10;
export const SYMBOL = 11;
export const REF = 12;
export const HOLE = 13;
export const OBJECT = 14;
export const KEYED = 15;
export const ARRAY = 16;
export const SPARSE = 17;
export const INTS = 18;
export const DOUBLES = 19;
export const MAP = 20;
export const SET = 21;
export const DATE = 22;
export const REGEXP = 23;
export const BOXED = 24;
export const ERROR = 25;
export const BUFFER = 26;
export const BYTES = 27;
export const VIEW = 28;
export const ATTACHMENT = 29;
export const SHARED = 30;
export const ENVELOPE = 31;
export const BORROWED = 32;
export const STRUCT = 33;
export const PENDING = 34;
export const TEXTS = 35;
export const TEXT = 36;
export const STREAM = 37;
export const HANDLE = 38;
export const RESIZABLE = 39;

/** Bytes of tag, flags and aux. */
export const VALUE_HEADER_BYTES = 8;

/** Flags, as they are stored in the first word. */
export const REFERENCED: number = 0x80 << 16;
/** OBJECT: some property was deleted before it was read; HOLE replaces it. */
export const PARTIAL: number = 1 << 16;
export const NO_HIGH: number = 1 << 16;
export const TRACKING: number = 1 << 16;
/** ERROR: the number of properties that are not enumerable, up to 7. */
export const HIDDEN_SHIFT = 16;

/** Kind of REF: the value itself if 0, or the buffer it is a view of. */
export const REF_BUFFER = 1;
