/**
 * Which calls their callers have given up, for tasks to see even while they run synchronous code: one
 * word per slot of the in-flight slab, in memory that the host shares with all workers of a pool.
 *
 * The word holds one more than the generation of the slot's call that was given up last; 0: none was. That call
 * and all before it in the slot are over for their callers, whatever ended them; of those after it the word says
 * nothing. Each call with a signal brings it up to date, so that it is never half a round of generations old. Written by
 * the host alone, read by workers.
 *
 * SYNC(abort-seen): a plain fact that comes to be known; a store by the host, loads by the worker, no
 * order with anything else. Atomics so that a loop that asks does see it at some time.
 */

/** Slots that have a word; calls in those beyond are told by a message only. */
const SLOTS = 2 ** 18;

/** Memory for the words of a pool; none if no task of it has a signal. */
export function createAbortEpochs(isAsked: boolean): SharedArrayBuffer {
  return new SharedArrayBuffer(isAsked ? 4 * SLOTS : 0);
}

/** Host: tells that the call of this id was given up. */
export function raiseAbort(
  words: Int32Array<SharedArrayBuffer>,
  slot: number,
  generation: number,
): void {
  if (slot < words.length) Atomics.store(words, slot, (generation + 1) | 0);
}

/** Host: a call has been made in this slot; those before it are over, and the word must not grow too old. */
export function clearAbort(
  words: Int32Array<SharedArrayBuffer>,
  slot: number,
  generation: number,
): void {
  if (slot < words.length) Atomics.store(words, slot, generation);
}

/** Worker: whether it was. */
export function wasAborted(
  words: Int32Array<SharedArrayBuffer>,
  slot: number,
  generation: number,
): boolean {
  if (slot >= words.length) return false;
  const word = Atomics.load(words, slot);
  // Generations are 31 bits and start over; the word is of this call or of one close to it.
  return word !== 0 && ((word - 1 - generation) & 0x7fff_ffff) < 2 ** 30;
}
