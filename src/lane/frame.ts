/**
 * Frame: the fixed words at the start of a record's body, in both directions.
 *
 *    8                   12                  16                  20                  24
 *   +-------------------+-------------------+-------------------+-------------------+---- - -
 *   | slot          i32 | generation    i32 | descriptor    i32 | task          i32 | values
 *   +-------------------+-------------------+-------------------+-------------------+---- - -
 *
 *   slot, generation   correlation id: index into the host's in-flight slab, and how often that
 *                      slot has been used, so that a late response never settles another call
 *   descriptor         kind | location << 4 | count << 8
 *   kind               CALL, CALL_BY_NAME (to a worker that has not described its tasks yet), RESULT, THROWN (the task
 *                      threw), KEY_LISTS (codec/key-lists.ts);
 *                      OPENED (the result is a stream), ITEMS of it, and EVENTS of a call (streams.md);
 *                      REQUEST (a task calls the host or another task: host-requests.md)
 *   location           where the values are (below)
 *   count              number of values: arguments of a CALL, items or events, otherwise 1
 *   task               CALL: the task's index in the pool's task table; CALL_BY_NAME: the length of the task's name, whose
 *                      UTF-16 units are behind the arguments, an i32 each; ITEMS: their encoded bytes; REQUEST: its
 *                      number; THROWN: OF_RETURN or 0; otherwise 0
 *
 *   location INLINE    the values follow, encoded by the codec
 *            NUMBER_ONLY  one number: an f64 at byte 24. The record has 32 bytes, so a run of them that starts on a cache line never straddles one
 *            PORT      i32 sequence, i32 bytes: message `sequence` of the payload port belongs to the
 *                      record (payload-port.ts). It holds the objects that the encoded values refer to
 *                      and that only a port can carry. If the encoded values are too large for a record, the last part of the
 *                    message is a SharedArrayBuffer with the values in its first `bytes` bytes. If
 *                      `bytes` is IN_RECORD, the values follow at byte 32 of the record
 */

/** The frame's fields as int32 words from the start of the record. */
export const SLOT_WORD = 2;
export const GENERATION_WORD = 3;
export const DESCRIPTOR_WORD = 4;
export const TASK_WORD = 5;

/** Record header and frame: where values start. */
export const FRAME_BYTES = 24;
/** Where the values of a PORT record start: record header, frame, message number and `bytes`. */
export const PLACEHOLDER_BYTES = 32;
/** Value of a PORT record's `bytes` if the encoded values are in the record itself. */
export const IN_RECORD = -1;
/** Frame and one f64. */
export const NUMBER_FRAME_BYTES = 32;

export const CALL = 1;
export const RESULT = 2;
export const THROWN = 3;
export const KEY_LISTS = 4;
export const OPENED = 5;
export const ITEMS = 6;
export const EVENTS = 7;
export const REQUEST = 8;
export const CALL_BY_NAME = 9;
export type Kind =
  | typeof CALL
  | typeof RESULT
  | typeof THROWN
  | typeof KEY_LISTS
  | typeof OPENED
  | typeof ITEMS
  | typeof EVENTS
  | typeof REQUEST
  | typeof CALL_BY_NAME;

/** What was thrown is from `return()` of a stream's iterator, which the host has cancelled. */
export const OF_RETURN = 1;

export const INLINE = 0;
export const PORT = 1;
export const NUMBER_ONLY = 2;
export type Location = typeof INLINE | typeof PORT | typeof NUMBER_ONLY;

/** Descriptors of the most frequent records: the receiver compares the word instead of unpacking it. */
export const CALL_WITH_NUMBER: number = packDescriptor(CALL, NUMBER_ONLY, 1);
export const CALL_WITH_VALUE: number = packDescriptor(CALL, INLINE, 1);
export const RESULT_NUMBER: number = packDescriptor(RESULT, NUMBER_ONLY, 1);
export const RESULT_VALUE: number = packDescriptor(RESULT, INLINE, 1);

export function packDescriptor(kind: Kind, location: Location, count: number): number {
  return kind | (location << 4) | (count << 8);
}

export function kindOf(descriptor: number): number {
  return descriptor & 0xf;
}

export function locationOf(descriptor: number): number {
  return (descriptor >> 4) & 0xf;
}

export function countOf(descriptor: number): number {
  return descriptor >>> 8;
}
