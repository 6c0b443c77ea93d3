/** The message of an abort. */
import type { PackedReason } from "../../../protocol/start-data.ts";

/** Host to worker: a call was aborted that the worker may be running and whose task has a signal. */
export interface AbortMessage {
  readonly heddle: "abort";
  readonly slot: number;
  readonly generation: number;
  readonly reason: PackedReason;
}
