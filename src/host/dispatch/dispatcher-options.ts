/** What the dispatcher is created with. */
import type { Signature } from "../../codec/declared.ts";
import type { CallStamps } from "../../metering/call-metrics.ts";
import type { SnapshotEncoder } from "../../lane/snapshot.ts";
import type { SnapshotReader } from "../../lane/snapshot-reader.ts";
import type { TaskTimings } from "../../metering/task-timings.ts";
import type { Timer } from "../../runtimes/runtime.ts";
import type { LaneChooser } from "../schedule/placement.ts";
import type { Backpressure } from "./queue/backpressure.ts";
import type { DispatcherEvents } from "./dispatcher-events.ts";
import type { ResponseFeatures } from "./responses.ts";

export interface DispatcherOptions {
  readonly snapshots: SnapshotEncoder;
  /** Creates what reads snapshots on the host. */
  readonly createReader: () => SnapshotReader;
  readonly events: DispatcherEvents;
  readonly features: ResponseFeatures;
  /** Whether the last argument of every call is its context. */
  readonly hasContext: boolean;
  /** With `metrics: true`. */
  readonly stamps: CallStamps | undefined;
  readonly isPromise: (value: unknown) => value is Promise<unknown>;
  readonly placement: LaneChooser;
  readonly maxThreads: number;
  readonly backpressure: Backpressure;
  /** Calls that a worker gets before another replaces it; Infinity: no limit. */
  readonly recycleAfter: number;
  readonly now: () => number;
  readonly setTimeout: (callback: () => void, delayMs: number) => Timer;
  readonly taskTimings: TaskTimings;
  /** Declared types of each task, by its index. */
  readonly signatures: readonly (Signature | undefined)[];
}
