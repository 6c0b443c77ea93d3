/**
 * Record header, at an 8-aligned index of the ring.
 *
 *    0                   4                   8
 *   +-------------------+-------------------+------------------------- - -
 *   | length        i32 | state         i32 | body (frame, then values)
 *   +-------------------+-------------------+------------------------- - -
 *
 *   length  bytes of the whole record, a multiple of 8, header included. Written by the producer
 *           before the tail moves past it; never changes afterwards.
 *           Negative: a padding record, −length bytes long, which always ends at the end of the ring.
 *   state   (sequence << 2) | QUEUED / CLAIMED / REVOKED. The producer writes QUEUED before
 *           publishing; afterwards one compare-exchange decides who owns the record:
 *             QUEUED → CLAIMED   by the consumer, which then runs it
 *             QUEUED → REVOKED   by the producer, which then sends it to another worker
 *           In the host's copy of a ring without shared memory (`features/workers/mirror/`) its only thread stores:
 *             QUEUED → SENT      the record is in the worker's copy too
 *           `sequence` counts the records of the ring (30 bits, wrapping), so a stale or scribbled
 *           record is recognised by its state word alone.
 *
 * A record becomes readable by the store to `tailPosition`, and by nothing else.
 */

export const RECORD_HEADER_BYTES = 8;

export const SENT = 0;
export const QUEUED = 1;
export const CLAIMED = 2;
export const REVOKED = 3;
/** The bits of a state word that are not the sequence. */
export const STATE_MASK = 3;
/** Sequence numbers wrap at 30 bits. */
export const SEQUENCE_MASK = 0x3fff_ffff;

/** Int32 index of the length of the record at byte `index`. */
export function lengthSlot(index: number): number {
  return index >> 2;
}

/** Int32 index of the state of the record at byte `index`. */
export function stateSlot(index: number): number {
  return (index >> 2) + 1;
}

/** State word of a queued record with this sequence number. */
export function queuedState(sequence: number): number {
  return (sequence << 2) | QUEUED;
}

/** The same record's word after its consumer has taken it. */
export function claimedState(queued: number): number {
  return queued + (CLAIMED - QUEUED);
}

/** The same record's word after its producer has revoked it. */
export function revokedState(queued: number): number {
  return queued + (REVOKED - QUEUED);
}
