/** The parts of a pool on the host, as those see them that are made of them. */
import type { Codec } from "../../codec/codec.ts";
import type { BlockingWait } from "../../host/dispatch/blocking-wait.ts";
import type { Broadcasts } from "../../host/dispatch/broadcasts.ts";
import type { Dispatcher } from "../../host/dispatch/dispatcher.ts";
import type { HostWaiting, PollLoop } from "../../host/dispatch/poll-loop.ts";
import type { Signals } from "../../host/limits/abort-signals.ts";
import type { Cancellation } from "../../host/limits/cancellation.ts";
import type { Deadlines } from "../../host/limits/deadlines.ts";
import type { HostRequests } from "../../host/requests/host-requests.ts";
import type { ArgumentSources } from "../../host/streams/argument-sources.ts";
import type { StreamCalls } from "../../host/streams/stream-calls.ts";
import type { Supervisor } from "../../host/workers/supervisor.ts";
import type { Watchdog } from "../../host/workers/watchdog.ts";
import type { SnapshotEncoder } from "../../lane/snapshot.ts";
import type { CallStamps } from "../../metering/call-metrics.ts";
import type { PoolSpec } from "../tasks/pool-spec.ts";

/** The parts of features. Reading one makes it, if that was not done before. */
export interface FeatureParts {
  readonly cancellation: Cancellation;
  readonly deadlines: Deadlines;
  readonly signals: Signals;
  readonly broadcasts: Broadcasts;
  readonly requests: HostRequests;
  readonly streams: StreamCalls;
  readonly sources: ArgumentSources;
  readonly blocking: BlockingWait;
}

export interface PoolParts extends FeatureParts {
  readonly spec: PoolSpec;
  /** With `metrics: true`. */
  readonly stamps: CallStamps | undefined;
  readonly codec: Codec;
  readonly snapshots: SnapshotEncoder;
  readonly waiting: HostWaiting;
  readonly abortEpochs: SharedArrayBuffer;
  readonly dispatcher: Dispatcher;
  readonly loop: PollLoop;
  readonly safety: Watchdog;
  readonly supervisor: Supervisor;
  /** The parts of features that have been made. */
  readonly made: { readonly [Name in keyof FeatureParts]?: FeatureParts[Name] };
  /** The pool has ended: it is closed, or has failed. */
  readonly isOver: boolean;
  /** Whether a worker takes calls, is starting, or may be started. */
  readonly hasWorker: boolean;
  /** Takes all responses. */
  takeResponses(): void;
  /** Calls are in flight, and the host is about to wait. */
  onBusy(): void;
}
