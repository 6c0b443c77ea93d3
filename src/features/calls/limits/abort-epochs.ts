/**
 * Abort flags in shared memory, so that a task can see its abort even while it runs synchronous code: one word per
 * slot of the in-flight slab, shared by the host with all workers of a pool.
 *
 * The word holds 1 + the generation of the slot's most recently aborted call, or 0 if none was aborted. That call and
 * all earlier calls of the slot are over for their callers; the word says nothing about later calls. Each call with a
 * signal refreshes the word, so it is never half a round of generations old. Only the host writes it; workers read it.
 *
 * SYNC(abort-seen): an independent flag; a store by the host, loads by the worker, no
 * order with anything else. Atomics so that a polling loop sees it eventually.
 */

/** Slots that have a word; calls in higher slots are notified by a message only. */
const SLOTS = 2 ** 18;

/**
 * Size of the memory for the words of a pool. Each task has a signal when `map` calls it in chunks. Systems give memory only when
 * it is written.
 */
export const ABORT_EPOCHS_BYTES: number = 4 * SLOTS;

/** Host: marks the call with this id as aborted. */
export function raiseAbort(
  words: Int32Array<SharedArrayBuffer>,
  slot: number,
  generation: number,
): void {
  if (slot < words.length) Atomics.store(words, slot, (generation + 1) | 0);
}

/** Host: a new call starts in this slot and its earlier calls are over. Refreshes the word before it grows too old. */
export function clearAbort(
  words: Int32Array<SharedArrayBuffer>,
  slot: number,
  generation: number,
): void {
  if (slot < words.length) Atomics.store(words, slot, generation);
}

/** Worker: whether the call was aborted. */
export function wasAborted(
  words: Int32Array<SharedArrayBuffer>,
  slot: number,
  generation: number,
): boolean {
  if (slot >= words.length) return false;
  const word = Atomics.load(words, slot);
  // Generations have 31 bits and wrap; the word belongs to this call or to one close to it.
  return word !== 0 && ((word - 1 - generation) & 0x7fff_ffff) < 2 ** 30;
}
