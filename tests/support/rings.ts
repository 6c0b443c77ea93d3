/** Rings for tests: small, both roles in one thread, started at any position. */
import type { RingConsumer } from "../../src/ring/consumer.ts";
import type { RingProducer } from "../../src/ring/producer.ts";
import {
  HEAD_POSITION,
  RING_HEADER_BYTES,
  ringBytes,
  TAIL_POSITION,
} from "../../src/ring/ring-layout.ts";
import { SpscRing } from "../../src/ring/spsc-ring.ts";

export interface TestRing {
  readonly buffer: SharedArrayBuffer;
  readonly header: Int32Array<SharedArrayBuffer>;
  readonly records: Int32Array<SharedArrayBuffer>;
  readonly producer: RingProducer;
  readonly consumer: RingConsumer;
}

/** A ring whose cursors start at `position`; `rewindBytes` as large as the ring disables rewinding. */
export function createTestRing(capacity: number, position = 0, rewindBytes?: number): TestRing {
  const buffer = new SharedArrayBuffer(ringBytes(capacity));
  const ring = SpscRing.create(buffer, 0, capacity);
  const header = new Int32Array(buffer, 0, RING_HEADER_BYTES / 4);
  header[TAIL_POSITION] = position;
  header[HEAD_POSITION] = position;
  return {
    buffer,
    header,
    records: new Int32Array(buffer, RING_HEADER_BYTES, capacity / 4),
    producer: ring.takeProducer(rewindBytes),
    consumer: ring.takeConsumer(),
  };
}

/** Writes a record of `words` int32 words of body, all `value`. False: no room. */
export function push(producer: RingProducer, value: number, words = 2): boolean {
  const index = producer.claim(8 + 4 * words);
  if (index < 0) return false;
  const start = (index + 8) >> 2;
  for (let word = 0; word < words; word++) producer.memory.i32[start + word] = value;
  producer.commit(index + 8 + 4 * words);
  return true;
}

/** Reads the next record written by `push`: its words, or undefined when there is none. */
export function pull(consumer: RingConsumer): number[] | undefined {
  const index = consumer.poll();
  if (index < 0) return undefined;
  consumer.verify(index);
  const words = [...consumer.memory.i32.subarray((index + 8) >> 2, consumer.end >> 2)];
  consumer.release();
  return words;
}
