/**
 * Allocates and attaches single-producer single-consumer rings, and hands out each role once.
 *
 * A ring is a part of a SharedArrayBuffer. Either thread may attach. Roles are taken by compare-exchange in the ring's
 * header, so a second producer is an error at set-up.
 */
import { type Memory, viewMemory } from "../memory/views.ts";
import { InvalidArgumentError, ProtocolError } from "../errors.ts";
import { RingConsumer } from "./consumer.ts";
import { RingProducer } from "./producer.ts";
import {
  CAPACITY,
  CONSUMER_TAKEN,
  MAGIC,
  MAX_CAPACITY,
  MIN_CAPACITY,
  PRODUCER_TAKEN,
  RING_HEADER_BYTES,
  RING_MAGIC,
  RING_VERSION,
  VERSION,
} from "./ring-layout.ts";

/** Throws unless `capacity` is a power of two a ring can have. */
export function checkCapacity(
  capacity: number,
  name = "capacity",
  least: number = MIN_CAPACITY,
): void {
  const isPowerOfTwo = Number.isInteger(capacity) && (capacity & (capacity - 1)) === 0;
  if (!isPowerOfTwo || capacity < least || capacity > MAX_CAPACITY) {
    throw new InvalidArgumentError(
      `${name} must be a power of two from ${least} to ${MAX_CAPACITY} bytes, got ${capacity}.`,
    );
  }
}

/** A ring in shared memory, of which this thread may take one role or (in tests) both. */
export class SpscRing {
  readonly #header: Int32Array<SharedArrayBuffer>;
  readonly #memory: Memory;

  private constructor(buffer: SharedArrayBuffer, byteOffset: number, capacity: number) {
    this.#header = new Int32Array(buffer, byteOffset, RING_HEADER_BYTES / 4);
    this.#memory = viewMemory(buffer, byteOffset + RING_HEADER_BYTES, capacity);
  }

  /** Formats a ring of `capacity` bytes at `byteOffset`. Only before the buffer is shared. */
  static create(buffer: SharedArrayBuffer, byteOffset: number, capacity: number): SpscRing {
    checkCapacity(capacity);
    const ring = new SpscRing(buffer, byteOffset, capacity);
    ring.#header.fill(0);
    ring.#header[MAGIC] = RING_MAGIC;
    ring.#header[VERSION] = RING_VERSION;
    ring.#header[CAPACITY] = capacity;
    return ring;
  }

  /** Attaches to a ring that `create` has formatted at `byteOffset`. */
  static attach(buffer: SharedArrayBuffer, byteOffset: number): SpscRing {
    const header = new Int32Array(buffer, byteOffset, RING_HEADER_BYTES / 4);
    if (header[MAGIC] !== RING_MAGIC || header[VERSION] !== RING_VERSION) {
      throw new ProtocolError(
        `No ring of version ${RING_VERSION} at byte ${byteOffset} of this buffer.`,
      );
    }
    const capacity = header[CAPACITY]!;
    checkCapacity(capacity);
    return new SpscRing(buffer, byteOffset, capacity);
  }

  /** The producer role. Throws if it was taken before, by any thread. */
  takeProducer(rewindBytes?: number): RingProducer {
    this.#take(PRODUCER_TAKEN, "producer");
    return new RingProducer(this.#header, this.#memory, rewindBytes);
  }

  /** The consumer role. Throws if it was taken before, by any thread. */
  takeConsumer(Consumer: typeof RingConsumer = RingConsumer): RingConsumer {
    this.#take(CONSUMER_TAKEN, "consumer");
    return new Consumer(this.#header, this.#memory);
  }

  #take(word: number, role: string): void {
    if (Atomics.compareExchange(this.#header, word, 0, 1) !== 0) {
      throw new InvalidArgumentError(`This ring's ${role} role has already been taken.`);
    }
  }
}
