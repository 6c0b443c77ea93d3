/** Calls that only certain workers may run, as the queue sees them: they wait apart from the others. */
import type { TaskTimings } from "../../../metering/task-timings.ts";
import type { Affinity } from "../../calls/call-settings.ts";
import type { InFlight, PendingCall } from "../../calls/in-flight.ts";
import type { QueuedCall } from "../../calls/queued-call.ts";
import type { Lane } from "../../lanes/lane.ts";
import type { LaneSet } from "../../lanes/lane-set.ts";
import type { LaneChooser } from "../../schedule/placement.ts";
import type { Sender } from "./sender.ts";

export interface PinnedQueueOptions {
  readonly inFlight: InFlight;
  readonly lanes: LaneSet;
  readonly placement: LaneChooser;
  readonly sender: Sender;
  readonly taskTimings: TaskTimings;
  /** Ids of the workers that take calls or are starting. */
  readonly workerIds: () => readonly number[];
  /** Whether a worker takes calls, is starting, or may be started. */
  readonly hasWorker: () => boolean;
}

export type CreatePinned = (options: PinnedQueueOptions) => PinnedQueue;

export interface PinnedQueue {
  /** Calls that wait here. */
  readonly size: number;
  /** Calls that no worker takes yet: those with a key, and nested ones. */
  readonly unassigned: number;
  /** Whether calls wait for a worker that takes calls. */
  readonly isSendable: boolean;
  /** The worker of such a call, if it can get it before all others that wait. */
  laneNow(affinity: Affinity): Lane | undefined;
  /** Adds a call whose settings have an affinity. */
  add(queued: QueuedCall, call: PendingCall): void;
  find(slot: number, generation: number): QueuedCall | undefined;
  has(slot: number, generation: number): boolean;
  /** Whether this worker may run a call; `isOnly`: and no other may. */
  mayRun(lane: Pick<Lane, "id">, call: PendingCall, isOnly?: boolean): boolean;
  /** Sends calls to their workers while these have room. True: some were sent. */
  flush(): boolean;
  /** The lane takes no more calls. */
  onClosed(laneId: number, reason: string): void;
  /** A lane was opened. */
  onOpened(): void;
  /** Drops the entries of settled calls. */
  prune(): void;
  clear(): void;
}
