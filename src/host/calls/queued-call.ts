/** A call that waits on the host, or is kept to be made again: what it needs to be sent. */
import type { Snapshot } from "../../lane/snapshot.ts";

export interface QueuedCall {
  readonly slot: number;
  readonly generation: number;
  readonly task: number;
  readonly snapshot: Snapshot;
  /** Levels above (or below) normal, which is 0. */
  readonly priority: number;
}
