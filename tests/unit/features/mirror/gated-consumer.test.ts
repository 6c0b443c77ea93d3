/** A ring whose payloads come later than its records. */
import { expect, test } from "vitest";
import {
  DESCRIPTOR_WORD,
  FRAME_BYTES,
  INLINE,
  packDescriptor,
  PORT,
  RESULT,
} from "../../../../src/lane/frame.ts";
import { GatedConsumer } from "../../../../src/features/workers/mirror/gated-consumer.ts";
import { EMPTY } from "../../../../src/ring/consumer.ts";
import { SpscRing } from "../../../../src/ring/spsc-ring.ts";

test("a record whose payload has not come is not there, nor are those behind it", () => {
  const ring = SpscRing.create(new SharedArrayBuffer(4096), 0, 1024);
  const tx = ring.takeProducer();
  const rx = ring.takeConsumer(GatedConsumer) as GatedConsumer;
  const come = new Set<number>();
  rx.messages = { has: (sequence) => come.has(sequence) };
  const add = (location: typeof INLINE | typeof PORT, sequence: number): void => {
    const index = tx.claim(FRAME_BYTES + 8);
    tx.memory.i32[(index >> 2) + DESCRIPTOR_WORD] = packDescriptor(RESULT, location, 1);
    tx.memory.i32[(index + FRAME_BYTES) >> 2] = sequence;
    tx.commit(index + FRAME_BYTES + 8);
  };
  expect(rx.hasRecord).toBe(false);
  add(INLINE, 9);
  add(PORT, 0);
  add(INLINE, 9);
  expect(rx.hasRecord).toBe(true);
  rx.verify(rx.poll());
  rx.release();
  expect([rx.poll(), rx.hasRecord]).toEqual([EMPTY, false]);
  come.add(0);
  expect(rx.hasRecord).toBe(true);
  rx.verify(rx.poll());
  rx.release();
  rx.verify(rx.poll());
  rx.release();
  expect(rx.hasRecord).toBe(false);
});
