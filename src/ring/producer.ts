/**
 * Producer role of an SPSC record ring: claim → write → commit, or abort.
 *
 * The key list follows Agrona's OneToOneRingBuffer (claim/commit/abort, padding at the wrap, cached
 * opposite cursor); rewinding an empty ring and the sequence in the state word are ours.
 *
 * Obtained once per ring from `spsc-ring.ts`. One claim may be open at a time; a further `claim` drops
 * the one before. Nothing is shared until `commit`: an aborted claim leaves the ring as it was.
 */
import type { Memory } from "../memory/views.ts";
import { ProtocolError } from "../errors.ts";
import {
  CLAIMED,
  lengthSlot,
  QUEUED,
  RECORD_HEADER_BYTES,
  REVOKED,
  revokedState,
  SENT,
  SEQUENCE_MASK,
  STATE_MASK,
  stateSlot,
} from "./record-layout.ts";
import { HEAD_POSITION, TAIL_POSITION } from "./ring-layout.ts";

/** `claim` found no room; try again after the consumer has released some. */
export const NO_SPACE = -1;

/**
 * From this index on the producer checks whether the ring is (nearly) empty and rewinds to index 0 by a
 * padding record, so that light traffic stays within a few hot cache lines and a large capacity costs
 * address space, not memory. Nearly, because the consumer publishes space in batches.
 */
const REWIND_BYTES: number = 16 * 1024;

/**
 * Until the consumer has passed that padding, only the bytes before it are free. A burst that needs more doubles the
 * index from which the producer rewinds, up to the whole ring. This number of laps without such a
 * burst halves it.
 */
const UNINTERRUPTED_LAPS = 64;

export class RingProducer {
  /** The records; offsets handed out by `claim` are bytes into it. */
  readonly memory: Memory;
  readonly capacity: number;
  /** After a successful claim: end of the contiguous bytes that may be written, from its index. */
  limit = 0;

  readonly #header: Int32Array<SharedArrayBuffer>;
  readonly #mask: number;
  readonly #minRewindBytes: number;
  #rewindBytes: number;
  /** Position behind the padding of the last rewind. */
  #rewoundTo: number;
  #isRewind = false;
  #uninterruptedLaps = 0;
  #tail: number;
  /** Times that the tail has wrapped. */
  #tailWraps = 0;
  #cachedHead: number;
  #sequence = 0;
  #claimIndex = NO_SPACE;
  #claimPosition = 0;
  #paddingIndex = NO_SPACE;
  #nextRewindCheck: number;

  /** Use `takeProducer`. `rewindBytes` of the ring's size or more: never rewind. */
  constructor(
    header: Int32Array<SharedArrayBuffer>,
    memory: Memory,
    rewindBytes?: number,
  ) {
    this.memory = memory;
    this.capacity = memory.u8.length;
    this.#header = header;
    this.#mask = this.capacity - 1;
    this.#minRewindBytes = rewindBytes ?? Math.min(REWIND_BYTES, this.capacity >> 1);
    this.#rewindBytes = this.#nextRewindCheck = this.#minRewindBytes;
    this.#rewoundTo = this.#tail = Atomics.load(header, TAIL_POSITION);
    this.#cachedHead = Atomics.load(header, HEAD_POSITION);
  }

  /**
   * Opens a record of at least `bytes` bytes (record header included) and returns its index, or
   * NO_SPACE. Up to `limit` may be written; `commit` says how much was.
   */
  claim(bytes: number): number {
    // A claim still open here was left by an exception (such as a stack overflow): only encoding
    // happens while one is open, and encoding runs no code that could claim again.
    if (this.#claimIndex !== NO_SPACE) this.abort();
    const need = (bytes + 7) & ~7;
    const tail = this.#tail;
    const index = tail & this.#mask;
    const room = this.capacity - index;
    if (index >= this.#nextRewindCheck) {
      const used = this.#usedBytesIfFew(index);
      if (used >= 0 && need <= index - used) {
        this.#isRewind = true;
        return this.#open(tail, index, room, index - used);
      }
    }
    let free = this.capacity - ((tail - this.#cachedHead) | 0);
    const wanted = need <= room ? need : room + need;
    if (wanted > free) {
      free = this.#refreshFree();
      if (wanted > free) {
        if (this.#rewoundTo !== this.#cachedHead) this.#rewindLater();
        return NO_SPACE;
      }
    }
    if (need <= room) {
      this.limit = index + (free < room ? free : room);
      this.#claimPosition = tail;
      this.#claimIndex = index;
      return index;
    }
    this.#isRewind = false;
    return this.#open(tail, index, room, free - room);
  }

  /** Closes the claim and publishes `end - index` bytes of it. `end` is at most `limit`. */
  commit(end: number): void {
    const index = this.#claimIndex;
    const bytes = (end - index + 7) & ~7;
    const i32 = this.memory.i32;
    if (this.#paddingIndex !== NO_SPACE) {
      i32[lengthSlot(this.#paddingIndex)] = -(this.capacity - this.#paddingIndex);
      this.#paddingIndex = NO_SPACE;
      if (this.#isRewind) this.#rewoundTo = this.#claimPosition;
    }
    if (index === 0) this.#beginLap();
    // `lengthSlot`, `stateSlot` and `queuedState` written out, as `align8` above: code that runs rarely is not inlined.
    i32[index >> 2] = bytes;
    i32[(index >> 2) + 1] = (this.#sequence << 2) | QUEUED;
    const tail = (this.#claimPosition + bytes) | 0;
    // SYNC(record-visible): publishes the record's bytes, length and state, and the padding before
    // it. Pairs with RingConsumer.poll. Needs release; the parking protocols also rely on its being
    // seq-cst (sync/worker-parking.ts, sync/host-parking.ts: store tail, then load the parked word).
    Atomics.store(this.#header, TAIL_POSITION, tail);
    if (tail < this.#tail) this.#tailWraps++;
    this.#tail = tail;
    this.#sequence = (this.#sequence + 1) & SEQUENCE_MASK;
    this.#claimIndex = NO_SPACE;
  }

  /** Restores the private state from the published state after an exception anywhere in this class. */
  recover(): void {
    this.abort();
    const tail = Atomics.load(this.#header, TAIL_POSITION);
    if (tail === this.#tail) return;
    if (tail < this.#tail) this.#tailWraps++;
    this.#tail = tail;
    this.#sequence = (this.#sequence + 1) & SEQUENCE_MASK;
  }

  /** Closes the claim and publishes nothing. */
  abort(): void {
    this.#claimIndex = NO_SPACE;
    this.#paddingIndex = NO_SPACE;
  }

  /** Whether `claim(bytes)` would succeed now. True is always correct; false may be stale. */
  hasSpace(bytes: number): boolean {
    if (this.claim(bytes) === NO_SPACE) return false;
    this.abort();
    return true;
  }

  /** True while the consumer has not released everything committed. May be stale. */
  get hasUnread(): boolean {
    return Atomics.load(this.#header, HEAD_POSITION) !== this.#tail;
  }

  /** Records committed so far; wraps at 2^30. */
  get sequence(): number {
    return this.#sequence;
  }

  /**
   * Start of the record that was just committed: a count of bytes that never wraps, so it identifies this record
   * permanently. (int32 cursors wrap, and soon, since a rewind skips nearly a whole ring.)
   */
  get position(): number {
    return this.#unwrapped(this.#claimPosition);
  }

  /** Index of the record of the last claim if it was committed and not revoked, otherwise NO_SPACE. Call `recover` before. */
  get lastCommitted(): number {
    const index = this.#claimPosition & this.#mask;
    const isCommitted = ((this.#tail - this.#claimPosition) | 0) > 0;
    return isCommitted && (this.memory.i32[stateSlot(index)]! & STATE_MASK) !== REVOKED
      ? index
      : NO_SPACE;
  }

  /** Consumer's and producer's positions, for the safety re-check: equal twice means no progress. */
  get headPosition(): number {
    return Atomics.load(this.#header, HEAD_POSITION);
  }

  get tailPosition(): number {
    return this.#tail;
  }

  /**
   * Indices of the `most` oldest matching records that the consumer has not released, including claimed and revoked ones.
   * Their bytes stay unchanged until this producer, which alone reuses them, claims again.
   */
  unreleased(max: number = Infinity, matches?: (index: number) => boolean): number[] {
    const indices: number[] = [];
    const { i32 } = this.memory;
    let left = this.capacity - this.#refreshFree();
    let position = this.#cachedHead;
    while (left > 0 && indices.length < max) {
      const index = position & this.#mask;
      const length = i32[lengthSlot(index)]!;
      const bytes = Math.abs(length);
      if (bytes < RECORD_HEADER_BYTES || bytes > left || (bytes & 7) !== 0) {
        throw new ProtocolError(`Record length ${length} at index ${index} has been overwritten.`);
      }
      if (length > 0 && matches?.(index) !== false) indices.push(index);
      position = (position + bytes) | 0;
      left -= bytes;
    }
    return indices;
  }

  /** Whether this unreleased record is still queued. May be stale. */
  isQueued(index: number): boolean {
    return (this.memory.i32[stateSlot(index)]! & STATE_MASK) === QUEUED;
  }

  /** Whether the consumer has taken the record committed at `position`. False may be stale. */
  hasTaken(position: number): boolean {
    if (this.isReleased(position)) return true;
    const index = position & this.#mask;
    const state = this.memory.i32[stateSlot(index)]! & STATE_MASK;
    // Of several that were sent, the oldest is that which the consumer has, or takes next.
    return state === SENT ? this.unreleased(1)[0] === index : state !== QUEUED;
  }

  /** Whether the consumer has claimed or released the record committed at `position`. False if it was only revoked. */
  isBegun(position: number): boolean {
    return this.isReleased(position) ||
      (this.memory.i32[stateSlot(position & this.#mask)]! & STATE_MASK) === CLAIMED;
  }

  /** Revokes the record committed at `position` unless the consumer has taken it: see `revoke`. */
  revokeAt(position: number): boolean {
    return !this.isReleased(position) && this.revoke(position & this.#mask);
  }

  /**
   * Revokes an unreleased record. True: the consumer will skip it, and the producer owns its call again;
   * false: the consumer was faster.
   */
  revoke(index: number): boolean {
    const { i32 } = this.memory;
    const queued = i32[stateSlot(index)]!;
    if ((queued & STATE_MASK) !== QUEUED) return false;
    // SYNC(claim-or-revoke): exactly one of this exchange and the consumer's QUEUED → CLAIMED wins.
    // Pairs with RingConsumer.acquire; needs a read-modify-write, ordering comes with it.
    return Atomics.compareExchange(i32, stateSlot(index), queued, revokedState(queued)) === queued;
  }

  /** Whether the record committed at `position` was released, so that its bytes may belong to another record. */
  isReleased(position: number): boolean {
    return position < this.#unwrapped(Atomics.load(this.#header, HEAD_POSITION));
  }

  /** The full count behind a cursor that is at most a ring behind the tail. */
  #unwrapped(cursor: number): number {
    return this.#tailWraps * 2 ** 32 + this.#tail - ((this.#tail - cursor) | 0);
  }

  /** Opens the record at index 0, behind a padding record that fills `room` bytes from `index`. */
  #open(tail: number, index: number, room: number, limit: number): number {
    this.#paddingIndex = index;
    this.#claimPosition = (tail + room) | 0;
    this.#claimIndex = 0;
    this.limit = limit;
    return 0;
  }

  /** Bytes not released yet if they are at most half of those before `index`, otherwise -1. */
  #usedBytesIfFew(index: number): number {
    const used = this.capacity - this.#refreshFree();
    if (used <= index >> 1) return used;
    // The ring is in use. The next check comes some way further on, or every claim would fetch the consumer's line.
    const next = index + this.#rewindBytes;
    this.#nextRewindCheck = Math.min(next, this.capacity);
    return -1;
  }

  /** Called when a record starts at index 0, after padding or directly after the last record. */
  #beginLap(): void {
    if (++this.#uninterruptedLaps === UNINTERRUPTED_LAPS) {
      this.#uninterruptedLaps = 0;
      this.#rewindBytes = Math.max(this.#minRewindBytes, this.#rewindBytes >> 1);
    }
    this.#nextRewindCheck = this.#rewindBytes;
  }

  /** Called when there is no room. If the padding of the last rewind caused that, later rewinds start further on. */
  #rewindLater(): void {
    if (((this.#rewoundTo - this.#cachedHead) | 0) <= 0) return;
    this.#rewoundTo = this.#cachedHead; // once for each rewind
    this.#uninterruptedLaps = 0;
    this.#rewindBytes = Math.min(2 * this.#rewindBytes, this.capacity);
    this.#nextRewindCheck = Math.max(this.#nextRewindCheck, this.#rewindBytes);
  }

  #refreshFree(): number {
    // SYNC(space-released): the consumer is done with everything before this position. Pairs with
    // RingConsumer.publish. Needs acquire.
    const head = Atomics.load(this.#header, HEAD_POSITION);
    const used = (this.#tail - head) | 0;
    if (used < 0 || used > this.capacity) {
      throw new ProtocolError(
        `Ring head ${head} is not within ${this.capacity} bytes of tail ${this.#tail}.`,
      );
    }
    this.#cachedHead = head;
    return this.capacity - used;
  }
}
