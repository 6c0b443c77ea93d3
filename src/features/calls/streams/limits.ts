/** Limits of streams; docs/internals/streams.md explains them. */

/** Default maximum of items sent and not acknowledged. */
export const HIGH_WATER_MARK = 4096;
/** Maximum of encoded bytes sent and not acknowledged; one item may exceed it. */
export const MAX_UNREAD_BYTES: number = 1024 * 1024;
/** A batch is sent when it has this many items or bytes. */
export const BATCH_ITEMS = 512;
export const BATCH_BYTES: number = 16 * 1024;
/** Longest time for which a producer asks its iterator without a turn of the event loop. */
export const SLICE_MS = 1;
