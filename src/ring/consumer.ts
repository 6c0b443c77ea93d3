/**
 * Consumer role of an SPSC record ring: poll → (acquire) → read → release.
 *
 * Obtained once per ring from `spsc-ring.ts`. Every record is checked against the published bytes before
 * anything in it is read. A damaged record causes a ProtocolError, never a loop or a read outside the record.
 */
import type { Memory } from "../memory/views.ts";
import { ProtocolError } from "../errors.ts";
import {
  CLAIMED,
  QUEUED,
  RECORD_HEADER_BYTES,
  revokedState,
  SEQUENCE_MASK,
} from "./record-layout.ts";
import { HEAD_POSITION, TAIL_POSITION } from "./ring-layout.ts";

/** Released bytes are published to the producer in batches of at most this size (and an eighth of the ring). */
const PUBLISH_STRIDE_BYTES = 4096;

/** `poll` found nothing to read. */
export const EMPTY = -1;

export class RingConsumer {
  /** The records; indices returned by `poll` are bytes into it. */
  readonly memory: Memory;
  readonly capacity: number;
  /** After a successful poll: end of the record, as a byte index. */
  end = 0;

  readonly #header: Int32Array<SharedArrayBuffer>;
  readonly #mask: number;
  readonly #publishBytes: number;
  #head: number;
  #publishedHead: number;
  #cachedTail: number;
  #sequence = 0;
  #length = 0;
  /** Position that `countReady` has reached, and the number of the record there. */
  #countedPosition: number;
  #countedSequence = 0;

  /** Use `takeConsumer`; the role exists once per ring. */
  constructor(header: Int32Array<SharedArrayBuffer>, memory: Memory) {
    this.memory = memory;
    this.capacity = memory.u8.length;
    this.#header = header;
    this.#mask = this.capacity - 1;
    this.#publishBytes = Math.min(PUBLISH_STRIDE_BYTES, this.capacity >> 3);
    this.#head = this.#publishedHead = Atomics.load(header, HEAD_POSITION);
    this.#cachedTail = this.#head;
    this.#countedPosition = this.#head;
  }

  /** Index of the oldest unreleased record, or EMPTY. Unchanged until `release`. */
  poll(): number {
    for (;;) {
      const head = this.#head;
      if (head === this.#cachedTail) {
        // SYNC(record-visible): everything before this position may be read. Pairs with
        // RingProducer.commit. Needs acquire; the parking protocols rely on seq-cst.
        const tail = Atomics.load(this.#header, TAIL_POSITION);
        if (tail === head) return EMPTY;
        const published = (tail - head) | 0;
        if (published < 0 || published > this.capacity || (published & 7) !== 0) {
          throw new ProtocolError(`Ring tail ${tail} does not fit head ${head}.`);
        }
        this.#cachedTail = tail;
      }
      const index = head & this.#mask;
      const length = this.memory.i32[index >> 2]!;
      const available = (this.#cachedTail - head) | 0;
      const room = this.capacity - index;
      if (
        length >= RECORD_HEADER_BYTES && length <= available && length <= room && (length & 7) === 0
      ) {
        this.#length = length;
        this.end = index + length;
        return index;
      }
      if (length === -room && room <= available) {
        this.#head = (head + room) | 0;
        continue;
      }
      throw new ProtocolError(
        `Record length ${length} at index ${index} is impossible (${available} bytes published).`,
      );
    }
  }

  /** Whether the producer has published something not yet polled. May be stale, never wrong for long. */
  get hasRecord(): boolean {
    return this.#head !== this.#cachedTail ||
      Atomics.load(this.#header, TAIL_POSITION) !== this.#head;
  }

  /** Number of records published and not released. Repeated calls walk over each record once. */
  countReady(): number {
    const { i32 } = this.memory;
    const tail = Atomics.load(this.#header, TAIL_POSITION);
    if (((this.#countedPosition - this.#head) | 0) < 0) {
      this.#countedPosition = this.#head;
      this.#countedSequence = this.#sequence;
    }
    // `poll` reports impossible positions and lengths.
    if (((tail - this.#head) | 0) > this.capacity) return 0;
    for (
      let left = (tail - this.#countedPosition) | 0;
      left > 0;
      left = (tail - this.#countedPosition) | 0
    ) {
      const length = i32[(this.#countedPosition & this.#mask) >> 2]!;
      const bytes = Math.abs(length);
      if (bytes < RECORD_HEADER_BYTES || bytes > left || (bytes & 7) !== 0) break;
      this.#countedPosition = (this.#countedPosition + bytes) | 0;
      if (length > 0) this.#countedSequence = (this.#countedSequence + 1) & SEQUENCE_MASK;
    }
    return (this.#countedSequence - this.#sequence) & SEQUENCE_MASK;
  }

  /** Position up to which records have been released, for the safety re-check. */
  get headPosition(): number {
    return this.#head;
  }

  /**
   * Claims the polled record. False: its producer revoked it; release it unread.
   * For rings whose producer revokes records; others use `verify`.
   */
  acquire(index: number): boolean {
    const queued = (this.#sequence << 2) | QUEUED; // `queuedState`, written out as in `RingProducer.commit`
    // SYNC(claim-or-revoke): exactly one of this exchange and the producer's QUEUED → REVOKED wins.
    // Pairs with the revoking side; needs a read-modify-write, ordering comes with it.
    const seen = Atomics.compareExchange(
      this.memory.i32,
      (index >> 2) + 1,
      queued,
      queued + (CLAIMED - QUEUED),
    );
    if (seen === queued) return true;
    if (seen === revokedState(queued)) return false;
    throw new ProtocolError(
      `Record state ${seen} at index ${index} does not belong to record ${this.#sequence}.`,
    );
  }

  /** Checks that the polled record is the next one in sequence. */
  verify(index: number): void {
    const state = this.memory.i32[(index >> 2) + 1]!;
    if (state !== ((this.#sequence << 2) | QUEUED)) {
      throw new ProtocolError(
        `Record state ${state} at index ${index} does not belong to record ${this.#sequence}.`,
      );
    }
  }

  /**
   * Releases the polled record; its bytes may be overwritten from now on. True: the space was published
   * to the producer. Space is published in batches, since each publish is a store that the producer's
   * core has to fetch. With every record released, at least seven eighths of the ring are visible as
   * free, enough for the largest record.
   */
  release(): boolean {
    this.#head = (this.#head + this.#length) | 0;
    this.#sequence = (this.#sequence + 1) & SEQUENCE_MASK;
    if (((this.#head - this.#publishedHead) | 0) < this.#publishBytes) return false;
    this.publish();
    return true;
  }

  /** Publishes all released space to the producer now. Consumers do so before they park. */
  publish(): void {
    if (this.#publishedHead === this.#head) return;
    this.#publishedHead = this.#head;
    // SYNC(space-released): pairs with RingProducer's reload of the head. Needs release; the
    // wants-space handshake relies on seq-cst (store head, then load the flag).
    Atomics.store(this.#header, HEAD_POSITION, this.#head);
  }
}
