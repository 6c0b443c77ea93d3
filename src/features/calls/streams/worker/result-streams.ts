/** Results that are streams: the worker's side. docs/internals/streams.md explains the protocol. */
import { Map, Promise } from "../../../../builtins.ts";
import { DataCloneError, InvalidArgumentError } from "../../../../errors.ts";
import { ItemBatch } from "../item-batch.ts";
import { ITEMS, OF_RETURN, OPENED } from "../../../../lane/frame.ts";
import type { SnapshotEncoder } from "../../../../lane/snapshot.ts";
import type { Runtime } from "../../../../runtimes/runtime.ts";
import { isReadableStream, tagOf } from "../sources/readable.ts";
import { openIterator } from "../sources/open-source.ts";
import { HIGH_WATER_MARK } from "../limits.ts";
import { StreamProducer } from "../stream-producer.ts";
import { isStreamable } from "../../../../protocol/is-streamable.ts";
import { keyOf } from "../../../../protocol/call-key.ts";
import type { OtherResult } from "../../../../worker/feature.ts";
import type { Replies } from "../../../../worker/replies.ts";
import type { WorkerCore } from "../../../../worker/worker-core.ts";

export interface ResultStreamsOptions {
  readonly runtime: Pick<Runtime, "now" | "macrotask">;
  readonly snapshots: SnapshotEncoder;
  readonly replies: Replies;
  /** Counts the streams that wait for credit or room. */
  readonly counts: { paused: number };
  /** Runs work of a stream outside the worker loop. */
  readonly run: (work: () => void) => void;
}

export class ResultStreams {
  readonly #options: ResultStreamsOptions;
  readonly #open = new Map<number, StreamProducer>();
  /** Called when no stream is open any more. */
  #onNone: (() => void) | undefined;

  constructor(options: ResultStreamsOptions) {
    this.#options = options;
    options.replies.onFlushed = () => {
      for (const producer of this.#open.values()) producer.resume();
    };
  }

  /**
   * Sends the items of `value`, an iterator or an async iterable. `onEnd` gets what the iterator returned or threw;
   * `isAnswered`: the host has got an error for it already; `isOfReturn`: its `return()` threw. Rethrows what opening the
   * iterable throws.
   */
  open(
    slot: number,
    generation: number,
    value: object,
    highWaterMark: number,
    onEnd: (isThrown: boolean, value: unknown, isAnswered: boolean, isOfReturn: boolean) => void,
  ): void {
    const { runtime, snapshots, replies, counts, run } = this.#options;
    const iterator = openIterator(value);
    const key = keyOf(slot, generation);
    const batch = new ItemBatch(snapshots);
    let isAnswered = false;
    const onRefused = (): void => {
      isAnswered = true;
      producer.cancel();
    };
    const producer = new StreamProducer({
      iterator,
      highWaterMark,
      now: runtime.now,
      macrotask: runtime.macrotask,
      run,
      writer: {
        add: (item) => batch.add(item),
        send: (bytes) => {
          try {
            const { encoder, end, count } = batch;
            replies.write(encoder, end, count, ITEMS, slot, generation, bytes, { onRefused });
          } finally {
            batch.clear();
          }
        },
        discard: () => batch.clear(),
        get isFull() {
          return replies.waiting > 0;
        },
      },
      onPause: (isPaused) => counts.paused += isPaused ? 1 : -1,
      onEnd: (isThrown, result, isOfReturn) => {
        this.#open.delete(key);
        onEnd(isThrown, result, isAnswered, isOfReturn);
        if (this.#open.size === 0) this.#onNone?.();
      },
    });
    this.#open.set(key, producer);
    // The host hears of the stream first; its items follow.
    const snapshot = snapshots.encodeInternal([isReadableStream(value), highWaterMark]);
    replies.send({ kind: OPENED, slot, generation, word: 0, snapshot });
    producer.resume();
  }

  /** The host has taken all items of this many further batches. The stream may have ended. */
  acknowledge(slot: number, generation: number, batches: number): void {
    this.#open.get(keyOf(slot, generation))?.acknowledge(batches);
  }

  /** The host wants no more items, or has settled the call. The stream may have ended. */
  cancel(slot: number, generation: number): void {
    this.#open.get(keyOf(slot, generation))?.cancel();
  }

  /** Cancels all streams. Resolves when their iterators have ended. */
  async close(): Promise<void> {
    if (this.#open.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onNone = resolve;
    for (const producer of this.#open.values()) producer.cancel();
    await promise;
  }
}

/** Whether `value` is what a generator function returns. */
function isGenerator(value: object): boolean {
  return /^\[object (Async)?Generator\]$/.test(tagOf(value));
}

const AsyncFunction = (async () => {}).constructor;

const NOT_DECLARED =
  "A task that returns a generator must be a generator function (function*) or an async function.";

/** Those of a worker. */
export function createResultStreams(core: WorkerCore): ResultStreams {
  const { runtime, endpoint: { snapshots }, replies, loop } = core;
  const { runner } = loop!;
  const streams = new ResultStreams({
    runtime,
    snapshots,
    replies,
    counts: runner,
    run: runner.respondLater,
  });
  core.onEnd.push(() => streams.close());
  return streams;
}

/** Sends a result as a stream of the worker's, which ends its call. */
export function sendStream(
  { slot, generation, task, value, startMs }: OtherResult,
  core: WorkerCore,
  resultStreams: typeof createResultStreams,
): void {
  const { runner } = core.loop!;
  if (isGenerator(value) && !task.isStream && !(task.f instanceof AsyncFunction)) {
    // Its caller got a promise, but the types promise a stream.
    runner.respond(slot, generation, task, true, new InvalidArgumentError(NOT_DECLARED));
    return;
  }
  runner.inFlight++;
  const onEnd = (isThrown: boolean, result: unknown, isOver: boolean, isOfReturn: boolean) => {
    runner.inFlight--;
    if (startMs >= 0) runner.times.settled(task.index, startMs);
    if (isOver) runner.close(slot, generation, task);
    else if (isThrown || !isStreamable(result)) {
      runner.respond(slot, generation, task, isThrown, result, isOfReturn ? OF_RETURN : 0);
    } else {
      const error = new DataCloneError("What a stream returns cannot be a stream itself.");
      runner.respond(slot, generation, task, true, error);
    }
  };
  const highWaterMark = task.highWaterMark ?? HIGH_WATER_MARK;
  try {
    core.part(resultStreams).open(slot, generation, value, highWaterMark, onEnd);
  } catch (error) {
    runner.inFlight--;
    runner.respond(slot, generation, task, true, error);
  }
}
