/** Tells a worker that one of its calls was aborted. */
import { textOf } from "../../../../codec/kinds/errors.ts";
import { packReason } from "../../../../protocol/abort-reason.ts";
import type { PackedReason } from "../../../../protocol/start-data.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";

export function postAbort(
  lane: Pick<Lane, "access" | "postStream">,
  slot: number,
  generation: number,
  reason: unknown,
): void {
  const post = (packed: PackedReason): boolean =>
    lane.postStream({ heddle: "abort", slot, generation, reason: packed });
  try {
    post(packReason(lane.access, reason));
  } catch {
    // A reason that cannot be cloned is sent as text. Even that may fail.
    try {
      post({ value: textOf(reason) });
    } catch {
      // The worker is about to end.
    }
  }
}
