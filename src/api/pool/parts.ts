/**
 * The parts of a pool on the host, as features see them. Every pool has those that are fields. The others belong to features that a
 * program may never use: each is made by its first use (`part`), and is told about workers and the end of the pool from then on.
 */
import type { Codec } from "../../codec/codec.ts";
import type { Dispatcher } from "../../host/dispatch/dispatcher.ts";
import type { HostWaiting, PollLoop } from "../../host/dispatch/poll-loop.ts";
import type { Sender, SenderOptions } from "../../host/dispatch/queue/sender.ts";
import type { Lane } from "../../host/lanes/lane.ts";
import type { Supervisor, WorkerExit } from "../../host/workers/supervisor.ts";
import type { Watchdog } from "../../host/workers/watchdog.ts";
import type { WorkerLostError } from "../../errors.ts";
import type { SnapshotEncoder } from "../../lane/snapshot.ts";
import type { PoolSpec } from "../tasks/pool-spec.ts";

/** What a part of a feature may be told, if it has been made. */
export interface Part {
  /** The tasks of a module pool are known. */
  onTasksKnown?(): void;
  /** A worker has started: calls back once when it may take calls. */
  onPrepare?(lane: Lane, onDone: () => void): void;
  /** A worker takes calls. */
  onWorkerStart?(workerId: number): void;
  /** A worker was lost, or never started. */
  onWorkerLost?(workerId: number, error: () => WorkerLostError): void;
  /** A worker has ended, for any reason. */
  onWorkerExit?(exit: WorkerExit): void;
  /** Called about every 100 ms while calls are in flight. */
  onTick?(): void;
  /** `pool.sync` begins to wait. */
  onBlock?(): void;
  /**
   * The host blocks, so nothing that was scheduled runs: does now what must not wait. True: workers may have changed. `isTick`: some
   * time has passed.
   */
  onBlocked?(isTick: boolean): boolean;
  /**
   * The pool is closing, and only calls are in flight whose streams nobody waits for. Calls back if they need not be waited for;
   * returns what ends the watch.
   */
  onUnread?(onUnread: () => void): () => void;
  /** The pool ends: every call is about to be rejected for this reason. */
  onPoolEnding?(reason: Error): void;
  /** The pool has ended. */
  onPoolEnd?(error: () => Error): void;
  /** What it adds to counters of `pool.stats()`, by name. */
  counters?(): Readonly<Record<string, number>>;
}

/** Makes a part of a feature. It is the key of the part as well. */
export type MakePart<Made extends object> = (host: PoolParts) => Made;

export interface PoolParts {
  readonly spec: PoolSpec;
  readonly codec: Codec;
  readonly snapshots: SnapshotEncoder;
  readonly waiting: HostWaiting;
  readonly dispatcher: Dispatcher;
  readonly loop: PollLoop;
  readonly safety: Watchdog;
  readonly supervisor: Supervisor;
  /** Heddle's own folder, whose frames are left out of stacks; undefined in a bundle. */
  readonly ownFolder: string | undefined;
  /** What workers get of features, by their names. */
  readonly startData: Record<string, unknown>;
  /** Set before the dispatcher is made. Undefined: the kernel's own. */
  createSender: ((options: SenderOptions) => Sender) | undefined;
  /** The part of this maker, which is made if it was not before. */
  part<Made extends object>(make: MakePart<Made>): Made;
  /** The part of this maker. Undefined: it was not made. */
  existing<Made extends object>(make: MakePart<Made>): Made | undefined;
  /** The parts that have been made, by their makers. */
  readonly parts: ReadonlyMap<MakePart<object>, Part>;
  /** The pool has ended: it is closed, or has failed. */
  readonly isOver: boolean;
  /** Whether a worker takes calls, is starting, or may be started. */
  readonly hasWorker: boolean;
  /** Calls aborted by their own getters, or by the balancer, before they were sent. */
  readonly abortedEarly: number;
  /** When each worker was ready, by `Runtime.coarseNow`. */
  readonly readyMs: ReadonlyMap<number, number>;
  /** Takes all responses. */
  takeResponses(): void;
  /** Calls are in flight, and the host is about to wait. */
  onBusy(): void;
  /** Producers may go on. */
  onDrain(): void;
  /** The host parks; a worker has woken it; it has woken a worker. Replaced before the parts that call them are made. */
  onPark: () => void;
  onWake: (worker: { readonly id: number }) => void;
  onWoken: ((workerId: number) => void) | undefined;
}
