/**
 * Runs some calls on the host's own thread, as one more worker, for programs whose main thread is idle otherwise.
 *
 * Such a call behaves like any other. Its arguments are encoded when it is made and decoded for the task, and so is
 * its result: the caller never sees what a task does to its arguments. It begins in a macrotask of its own batch,
 * so that timers and I/O run in between.
 */
import type { Codec } from "../../../../codec/codec.ts";
import { isError } from "../../../../codec/kinds/errors.ts";
import { mayBorrow } from "../../../../codec/support/intrinsics.ts";
import type { Signature } from "../../../../codec/declared.ts";
import { RESULT_NAME, type Snapshot, type SnapshotEncoder } from "../../../../lane/snapshot.ts";
import { SnapshotReader } from "../../../../lane/snapshot-reader.ts";
import type { QueuedCall } from "../../../../host/calls/queued-call.ts";
import { type InFlight, RUN_BY_HOST } from "../../../../host/calls/in-flight.ts";
import type { Inliner } from "../../../../host/dispatch/queue/waiting-calls.ts";

/** Settings of the option `inliner`. */
export interface InlinerLimits {
  /**
   * Before the workers, or only calls that no worker can take.
   *
   * @default "last"
   */
  readonly position: "first" | "last";
  /**
   * Calls run in one go.
   *
   * @default 1
   */
  readonly batchSize: number;
  /**
   * Minimum number of calls in flight before the host runs some itself.
   *
   * @default 1
   */
  readonly dispatchThreshold: number;
}

export interface InlineExecutorOptions extends InlinerLimits {
  readonly codec: Codec;
  readonly snapshots: SnapshotEncoder;
  readonly inFlight: InFlight;
  /** The functions of tasks that the host has loaded, by task. */
  readonly functions: readonly (((...args: unknown[]) => unknown) | undefined)[];
  readonly signatures: readonly (Signature | undefined)[];
  /** Maximum of calls begun and not settled. */
  readonly maxConcurrency: number;
  /** Runs a function in the next turn of the event loop. */
  readonly soon: (callback: () => void) => void;
  /** A call was settled: there is room for another. */
  readonly onRoom: () => void;
}

export class InlineExecutor implements Inliner {
  /** Calls run so far. */
  ran = 0;
  readonly #options: InlineExecutorOptions;
  readonly #reader: SnapshotReader;
  #batch: QueuedCall[] = [];
  /** Calls begun and not settled. */
  #running = 0;

  constructor(options: InlineExecutorOptions) {
    this.#options = options;
    this.#reader = new SnapshotReader(options.codec);
  }

  /** Whether the host takes this call before any worker. */
  takesFirst(task: number, coming: 0 | 1): boolean {
    return this.#options.position === "first" && this.hasRoom(task, coming);
  }

  /** Whether the host may take a call of this task now; `coming`: 1 if it is not in flight yet. */
  hasRoom(task: number, coming: 0 | 1): boolean {
    const { functions, batchSize, dispatchThreshold, inFlight, maxConcurrency } = this.#options;
    const taken = this.#batch.length;
    return functions[task] !== undefined && taken < batchSize &&
      taken + this.#running < maxConcurrency &&
      inFlight.size + coming >= dispatchThreshold;
  }

  /** Takes a call. False: the host blocks for it, or it contains objects that only a message to another thread can hand over. */
  take(call: QueuedCall): boolean {
    const waiting = this.#options.inFlight.find(call.slot, call.generation);
    if (waiting?.extra?.needsWorker === true) return false;
    const attachments = [...call.snapshot.payload?.attachments ?? [], ...call.snapshot.transfer];
    const { kinds } = this.#options.codec.access;
    const isPlain = attachments.every((extra) =>
      kinds.isArrayBuffer(extra) || kinds.isSharedArrayBuffer(extra)
    );
    if (!isPlain) return false;
    this.#batch.push(call);
    if (this.#batch.length === 1) this.#options.soon(() => this.#runBatch());
    return true;
  }

  #runBatch(): void {
    const batch = this.#batch;
    this.#batch = [];
    for (const call of batch) void this.#run(call);
  }

  async #run({ slot, generation, task, snapshot }: QueuedCall): Promise<void> {
    const { inFlight, functions, onRoom } = this.#options;
    const waiting = inFlight.find(slot, generation);
    if (waiting === undefined) return;
    waiting.lane = RUN_BY_HOST;
    this.ran++;
    this.#running++;
    let kind: "resolve" | "reject" = "resolve";
    let value: unknown;
    try {
      value = await this.#call(functions[task]!, snapshot, task);
    } catch (error) {
      kind = "reject";
      value = error;
    }
    this.#running--;
    const [outcome, copied] = this.#copy(kind, value, task);
    const call = inFlight.find(slot, generation);
    if (call !== undefined) inFlight[outcome](call, copied);
    else inFlight.lateRuns?.onResponse(RUN_BY_HOST, slot, generation);
    onRoom();
  }

  /** Runs a task as a worker does. Borrowed arguments are valid until the task returns. */
  #call(f: (...args: unknown[]) => unknown, snapshot: Snapshot, task: number): unknown {
    const { decoder } = this.#reader;
    decoder.declared = this.#options.signatures[task]?.args;
    decoder.isBorrowing = mayBorrow(f);
    let args: unknown[];
    try {
      args = this.#reader.read(snapshot);
    } finally {
      decoder.isBorrowing = false;
    }
    const borrows = decoder.borrows.splice(0);
    try {
      return f(...args);
    } finally {
      for (const range of borrows) range.revoke();
    }
  }

  /** The caller's copy of the result or error of a task. */
  #copy(
    kind: "resolve" | "reject",
    value: unknown,
    task: number,
  ): ["resolve" | "reject", unknown] {
    const { snapshots, signatures } = this.#options;
    try {
      const returns = kind === "resolve" ? signatures[task]?.returns : undefined;
      const snapshot = kind === "reject" && isError(value)
        ? snapshots.captureError(value)
        : snapshots.capture([value], RESULT_NAME, returns);
      this.#reader.decoder.declared = returns;
      return [kind, this.#reader.read(snapshot)[0]];
    } catch (error) {
      return ["reject", error]; // the value cannot be cloned, or a getter threw
    }
  }
}
