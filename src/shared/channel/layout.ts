/**
 * The memory of a channel. Lines that different threads write are 128 bytes apart.
 *
 *   word
 *   4    capacity            in values; written once
 *   5    ring bytes          a power of two; written once
 *   32   send latch          its holder writes the ring, `tail` and `sent`
 *   33   tail                position; a store publishes a record
 *   34   sent                number of the last record
 *   64   receive latch       its holder writes `head` and `received`
 *   65   head                position; a store takes a record
 *   66   received            number of the last record taken
 *   96   ends latch          its holder writes words 97 to 100, the ends and the reason
 *   97   deaths              when the ends were last looked at
 *   98   senders, receivers  1: there are none any more
 *   100  reason bytes        of the first reason that a sender gave; -1: a thread died
 *   101  is named            1: it does not end by itself; written once
 *   104  send waits          wait set
 *   112  receive waits       wait set
 *   128  ends                of each thread: [token, senders, receivers, number of its last departure, senders and receivers on their
 *                            way that have no slot], then 32 slots: number << 1 | side of an end that it has sent, side 1: a receiver; 0: none
 *   10368 reason             8 KiB, for the stack of an error
 *   12416 ring
 *
 * A record: length in bytes, its header included, its number, and its state; then the value at byte 16. A length of -n skips n bytes to the start
 * of the ring. State: WRITTEN, or the token of the thread that writes a large value outside the latch: the holder of the send latch writes it before `tail`; then
 * that thread alone, token → WRITTEN or ABANDONED.
 * Receivers skip ABANDONED records and those whose writer is dead. Positions are counts of bytes that wrap as int32. A dead holder of a latch leaves nothing half-done that matters: a record
 * without a new `tail` is not there, and numbers are set, not counted, so the next operation corrects them.
 */
import { MAX_THREADS } from "../threads/root.ts";
import { WAIT_SET_WORDS } from "../wait-set.ts";

export const CAPACITY = 4;
export const RING_BYTES = 5;
export const SEND_LATCH = 32;
export const TAIL = 33;
export const SENT = 34;
export const RECEIVE_LATCH = 64;
export const HEAD = 65;
export const RECEIVED = 66;
export const ENDS_LATCH = 96;
export const DEATHS = 97;
export const NO_SENDERS = 98;
export const NO_RECEIVERS = 99;
export const REASON_BYTES = 100;
export const IS_NAMED = 101;
export const SEND_WAITS = 104;
export const RECEIVE_WAITS: number = SEND_WAITS + WAIT_SET_WORDS;
export const ENDS = 128;
export const END_WORDS = 40;
export const REASON: number = ENDS + END_WORDS * MAX_THREADS;
export const MAX_REASON_BYTES = 8192;
/** Byte where the ring starts. */
export const RING: number = 4 * REASON + MAX_REASON_BYTES;

export const RECORD_HEADER_BYTES = 16;
/** States of a record. */
export const WRITTEN = 0;
export const ABANDONED = -1;
/** Bytes of a value up to which it is copied under a latch: it takes two microseconds then. */
export const MAX_LATCHED_BYTES: number = 2 ** 14;
/** `reason bytes` if a thread that died was the last to have a sender. */
export const DIED = -1;
