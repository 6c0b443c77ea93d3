/** What the dispatcher is created with. */
import type { Signature } from "../../codec/declared.ts";
import type { SnapshotEncoder } from "../../lane/snapshot.ts";
import type { SnapshotReader } from "../../lane/snapshot-reader.ts";
import type { TaskTimings } from "../../metering/task-timings.ts";
import type { Timer } from "../../runtimes/runtime.ts";
import type { LaneChooser } from "../schedule/placement.ts";
import type { Stealing, StealingOptions } from "../schedule/stealing.ts";
import type { DispatcherEvents } from "./dispatcher-events.ts";
import type { CreatePinned } from "./queue/pinned-queue.ts";
import type { QueueBound } from "./queue/queue-bound.ts";
import type { Sender, SenderOptions } from "./queue/sender.ts";

export interface DispatcherOptions {
  readonly snapshots: SnapshotEncoder;
  /** Creates what reads snapshots on the host. */
  readonly createReader: () => SnapshotReader;
  readonly events: DispatcherEvents;
  /** Whether the last argument of every call is its context. */
  readonly hasContext: boolean;
  /** Whether the first call may be sent before a worker is ready (`early-start.ts`). */
  readonly startsEarly?: boolean;
  /** Undefined: the kernel's own sender, no stealing, and no calls that only certain workers may run. */
  readonly createSender?: ((options: SenderOptions) => Sender) | undefined;
  readonly createStealing?: ((options: StealingOptions) => Stealing) | undefined;
  readonly createPinned?: CreatePinned | undefined;
  readonly isPromise: (value: unknown) => value is Promise<unknown>;
  readonly placement: LaneChooser;
  readonly maxThreads: number;
  readonly backpressure: QueueBound;
  /** Calls that a worker gets before another replaces it; Infinity: no limit. */
  readonly recycleAfter: number;
  readonly now: () => number;
  readonly setTimeout: (callback: () => void, delayMs: number) => Timer;
  readonly taskTimings: TaskTimings;
  /** Declared types of each task, by its index. */
  readonly signatures: readonly (Signature | undefined)[];
}
