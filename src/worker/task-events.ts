/** `emit()`: values that a task sends to its caller before its result. */
import { Map } from "../builtins.ts";
import { StreamClosedError } from "../errors.ts";
import { EVENTS } from "../lane/frame.ts";
import { ItemBatch } from "../lane/item-batch.ts";
import type { SnapshotEncoder } from "../lane/snapshot.ts";
import type { AsyncContext, Runtime } from "../runtimes/runtime.ts";
import { keyOf } from "./abort-signals.ts";
import type { Replies } from "./replies.ts";

/** Events that may wait for room in the ring. A task that sends more waits for the host, with its thread. */
const MAX_WAITING = 1024;
const WAIT_MS = 1;

interface Emitter {
  readonly slot: number;
  readonly generation: number;
  isOver: boolean;
}

export class TaskEvents {
  readonly #replies: Replies;
  readonly #snapshots: SnapshotEncoder;
  readonly #createContext: () => AsyncContext<Emitter>;
  /** Created with the first call that has events: it makes promises slower on some runtimes. */
  #context: AsyncContext<Emitter> | undefined;
  readonly #open = new Map<number, Emitter>();
  readonly #sleep = new Int32Array(new SharedArrayBuffer(4));

  readonly #maxWaiting: number;

  constructor(
    runtime: Runtime,
    snapshots: SnapshotEncoder,
    replies: Replies,
    mayBlock: boolean,
  ) {
    this.#maxWaiting = mayBlock ? MAX_WAITING : Infinity;
    this.#createContext = () => runtime.createContext<Emitter>();
    this.#snapshots = snapshots;
    this.#replies = replies;
  }

  /** Runs a task whose caller wants its events. */
  run(slot: number, generation: number, f: () => unknown): unknown {
    const emitter: Emitter = { slot, generation, isOver: false };
    this.#open.set(keyOf(slot, generation), emitter);
    this.#context ??= this.#createContext();
    return this.#context.run(emitter, f);
  }

  /** The call is over. */
  close(slot: number, generation: number): void {
    const key = keyOf(slot, generation);
    const emitter = this.#open.get(key);
    if (emitter !== undefined) emitter.isOver = true;
    this.#open.delete(key);
  }

  /**
   * Sends a value to the caller of the running task, if it wants any. Throws DataCloneError, and StreamClosedError if it
   * would wait while the host stops this worker.
   */
  emit(value: unknown): void {
    const emitter = this.#context?.get();
    if (emitter === undefined || emitter.isOver) return;
    while (this.#replies.waiting >= this.#maxWaiting && !this.#replies.flush()) {
      // The host reads no more, and not every runtime can stop a thread that waits.
      if (this.#replies.isStopped) throw new StreamClosedError();
      Atomics.wait(this.#sleep, 0, 0, WAIT_MS);
    }
    const batch = new ItemBatch(this.#snapshots);
    try {
      const bytes = batch.add(value);
      this.#replies.items(EVENTS, emitter.slot, emitter.generation, batch, bytes);
    } finally {
      batch.clear();
    }
  }
}
