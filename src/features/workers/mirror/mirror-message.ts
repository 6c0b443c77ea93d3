/**
 * Lanes without shared memory. Host and worker each have a copy of the lane, and a message brings what one side has written to
 * the other: records of the ring that it produces, the head of the ring that it consumes, and its control words. The code on
 * both copies is that for shared memory, but nobody spins or blocks, since words change by messages only.
 */

/** Both ways. */
export interface MirrorMessage {
  readonly heddle: "mirror";
  /** Head of the ring that the sender consumes. */
  readonly head: number;
  /** Records of the ring that it produces. */
  readonly records: Int32Array<SharedArrayBuffer> | undefined;
  /** From the host: the word IS_CLOSING. */
  readonly closing?: number;
  /** From the worker: the words from WAITS_FOR on, which it alone writes. */
  readonly words?: Int32Array;
  /** From the worker: new estimates of tasks (`metering/task-timings.ts`), each the index of the task and its word. */
  readonly loads?: readonly number[];
}

/**
 * From this size on the buffer of the records moves, which costs more than copying a small one. Fitted on two cores
 * (docs/internals/browsers.md).
 */
const MOVED_BYTES = 8192;

/** What moves with a message. */
export function movedWith({ records }: MirrorMessage): readonly ArrayBufferLike[] {
  return records !== undefined && records.byteLength >= MOVED_BYTES ? [records.buffer] : [];
}

/** Most calls that a worker has not taken, while all are short or async. Fitted on two cores (docs/internals/browsers.md). */
export const MAX_SENT = 64;

/** Words that a worker writes, from WAITS_FOR on. */
export const WORKER_WORDS = 32;
