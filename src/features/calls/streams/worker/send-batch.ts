/** Sends the items of a batch: of a stream, or events. */
import type { ItemBatch } from "../item-batch.ts";
import type { Snapshot } from "../../../../lane/snapshot.ts";
import type { Replies, Reply } from "../../../../worker/replies.ts";

/** The batch is empty afterwards. */
export function sendBatch(
  replies: Replies,
  batch: ItemBatch,
  reply: Omit<Reply, "snapshot">,
): void {
  const { encoder, end, count } = batch;
  let snapshot: Snapshot;
  try {
    if (replies.trySendEncoded(encoder, end, count, reply)) return;
    snapshot = batch.take();
  } finally {
    batch.clear();
  }
  replies.send({ ...reply, snapshot });
}
