/** The open batch of a stream. */
import { expect, test } from "vitest";
import { ItemBatch } from "../../../../src/features/calls/streams/item-batch.ts";
import { SnapshotEncoder } from "../../../../src/lane/snapshot.ts";
import { transfer } from "../../../../src/mod-task.ts";
import { createCodec } from "../../../support/endpoints.ts";

test("the bytes of a batch fit into the int32 of its record", () => {
  const batch = new ItemBatch(new SnapshotEncoder(createCodec(0), 1024));
  const half = (): ArrayBuffer => new ArrayBuffer(2 ** 30);
  const bytes = batch.add([transfer(half()), transfer(half())]);
  // The consumer counts what the record says, and acknowledges at half of the limit.
  expect(bytes | 0).toBe(bytes);
  expect(bytes).toBeGreaterThan(2 ** 30);
  batch.clear();
});
