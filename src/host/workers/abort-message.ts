/** Tells a worker that one of its calls was aborted. */
import { textOf } from "../../codec/kinds/errors.ts";
import { packReason } from "../../protocol/abort-reason.ts";
import type { AbortMessage, PackedReason } from "../../protocol/start-data.ts";
import type { CodecAccess } from "../../runtimes/runtime.ts";

/** Returns the error if nothing can be posted. */
export function postAbort(
  access: CodecAccess,
  post: (message: AbortMessage) => void,
  slot: number,
  generation: number,
  reason: unknown,
): unknown {
  const abort = (packed: PackedReason): AbortMessage => ({
    heddle: "abort",
    slot,
    generation,
    reason: packed,
  });
  try {
    post(abort(packReason(access, reason)));
  } catch {
    // A reason that cannot be cloned is sent as text. Even that may fail: the worker may be gone.
    try {
      post(abort({ value: textOf(reason) }));
    } catch (error) {
      return error;
    }
  }
  return undefined;
}
