/** `emit()`: values that a task sends to its caller before its result. */
import { StreamClosedError } from "../../../../errors.ts";
import { EVENTS } from "../../../../lane/frame.ts";
import { ItemBatch } from "../item-batch.ts";
import type { SnapshotEncoder } from "../../../../lane/snapshot.ts";
import type { Replies } from "../../../../worker/replies.ts";
import type { WorkerCore } from "../../../../worker/worker-core.ts";
import { type RunningCalls, runningCalls } from "../../../../worker/calls/running-calls.ts";

/** Events that may wait for room in the ring. A task that sends more waits for the host, with its thread. */
const MAX_WAITING = 1024;

export class TaskEvents {
  readonly #replies: Replies;
  readonly #snapshots: SnapshotEncoder;
  readonly #running: RunningCalls;
  /** Responses that may wait when an event is sent. */
  readonly #maxWaiting: number;

  constructor(
    running: RunningCalls,
    snapshots: SnapshotEncoder,
    replies: Replies,
    mayBlock: boolean,
  ) {
    this.#maxWaiting = mayBlock ? MAX_WAITING - 1 : Infinity;
    this.#running = running;
    this.#snapshots = snapshots;
    this.#replies = replies;
  }

  /**
   * Sends a value to the caller of the running task, if it wants any. Throws DataCloneError, and StreamClosedError if it
   * would wait while the host stops this worker.
   */
  emit(value: unknown): void {
    const call = this.#running.current;
    if (call === undefined || call.isOver || !call.task.emits) return;
    // The host reads no more, and not every runtime can stop a thread that waits.
    if (!this.#replies.flushNow(this.#maxWaiting)) throw new StreamClosedError();
    const batch = new ItemBatch(this.#snapshots);
    try {
      const bytes = batch.add(value);
      const { slot, generation } = call;
      const { encoder, end, count } = batch;
      this.#replies.write(encoder, end, count, EVENTS, slot, generation, bytes, {
        isOptional: true,
      });
    } finally {
      batch.clear();
    }
  }
}

/** Those of a worker (`WorkerCore.part`). */
export function taskEvents(core: WorkerCore): TaskEvents {
  const { endpoint: { snapshots }, replies, staysInLoop } = core;
  return new TaskEvents(core.part(runningCalls), snapshots, replies, !staysInLoop);
}
