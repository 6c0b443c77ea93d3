/** Links the calls whose results are streams with their readers. */
import type { StreamConsumer } from "../stream-consumer.ts";
import type { LaneSet } from "../../../../host/lanes/lane-set.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";
import type { Cancellation } from "../../limits/host/cancellation.ts";
import type { ItemSink } from "../../../../host/calls/call-extra.ts";
import type { InFlight, PendingCall, Reject, Resolve } from "../../../../host/calls/in-flight.ts";
import { toReadableStream } from "../readable.ts";
import type { Runtime } from "../../../../runtimes/runtime.ts";
import { createResultStream, type ResultStream } from "./result-stream.ts";
import { whenUnread } from "./unread-streams.ts";

export interface StreamCallsOptions {
  readonly inFlight: InFlight;
  readonly lanes: LaneSet;
  readonly cancellation: Pick<Cancellation, "abort" | "stopStream">;
  readonly setInterval: Runtime["setInterval"];
  /** Somebody waits for a stream: the process must keep running. */
  readonly onWanted: () => void;
}

export class StreamCalls {
  /** Items that have arrived. */
  items = 0;
  readonly #options: StreamCallsOptions;

  constructor(options: StreamCallsOptions) {
    this.#options = options;
  }

  counters(): Readonly<Record<"streamItems", number>> {
    return { streamItems: this.items };
  }

  /** The pool is closing: does not wait for streams that nobody reads. */
  onUnread(onUnread: () => void): () => void {
    return whenUnread(this.#options.inFlight, this.#options.setInterval, onUnread);
  }

  /** Creates the stream of a call that will be made. */
  create(): StreamSink {
    return new StreamSink(this.#options);
  }

  /** The worker begins to send the call's result as a stream. Settles a call that did not expect one. */
  open(call: PendingCall, isReadable: boolean, highWaterMark: number): void {
    const { extra, resolve } = call;
    const expected = extra?.stream;
    if (expected !== undefined) {
      (expected as StreamSink).open(highWaterMark, isReadable);
      return;
    }
    const sink = this.create();
    sink.attach(call);
    sink.open(highWaterMark, isReadable);
    resolve!(sink.present(sink.takeHandle()));
  }

  /** The call of a stream that a worker opens is over. */
  refuse(lane: Lane, slot: number, generation: number): void {
    lane.postStream({ heddle: "cancel", slot, generation, index: 0 });
  }

  /** Items of the call cannot be read on this thread. */
  fail(call: PendingCall, error: unknown): void {
    const stream = call.extra?.stream;
    if (stream !== undefined) stream.isOfNext = true;
    this.#options.cancellation.abort(call, error);
  }
}

function ignore(): void {}

/** The stream of one call. */
export class StreamSink implements ItemSink {
  /** Called when the result turns out to be a stream. */
  onOpened: () => void = ignore;
  isOfNext = false;
  #isOpen = false;
  #isReadable = false;
  #isAwaited = false;
  readonly #consumer: StreamConsumer;
  readonly #options: StreamCallsOptions;
  /** Until the caller has it: the call refers to this object, and the handle must be collectable. */
  #handle: ResultStream<unknown, unknown> | undefined;
  #call: PendingCall | undefined;

  constructor(options: StreamCallsOptions) {
    this.#options = options;
    const { consumer, handle } = createResultStream({
      acknowledge: (batches) => this.#acknowledge(batches),
      cancel: () => {
        const call = this.#callInFlight;
        if (call !== undefined) options.cancellation.stopStream(call);
      },
      onWaiting: (isWaiting) => this.#onWaiting(isWaiting),
    });
    this.#consumer = consumer;
    this.#handle = handle;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get taken(): number {
    return this.#consumer.taken;
  }

  /** Whether its reader wants no more items. */
  get isCancelled(): boolean {
    return this.#consumer.isCancelled;
  }

  /** Gives the stream to its caller, once. */
  takeHandle(): ResultStream<unknown, unknown> {
    const handle = this.#handle!;
    this.#handle = undefined;
    return handle;
  }

  /** `handle` as the kind of stream that the task returned. */
  present(
    handle: ResultStream<unknown, unknown>,
  ): ResultStream<unknown, unknown> | ReadableStream<unknown> {
    return this.#isReadable ? toReadableStream(handle) : handle;
  }

  /**
   * `call` is made; nothing has arrived for it. `isAwaited`: its promise keeps the process running until it turns out to be a
   * stream.
   */
  attach(call: PendingCall, isAwaited = false): void {
    call.keep().stream = this;
    this.#call = call;
    this.#isAwaited = isAwaited;
    this.#updateIdle();
    if (this.#consumer.isCancelled) this.#options.cancellation.stopStream(call);
  }

  open(highWaterMark: number, isReadable: boolean): void {
    this.#isOpen = true;
    this.#isReadable = isReadable;
    this.#consumer.highWaterMark = highWaterMark;
    this.#isAwaited = false;
    this.#updateIdle();
    const call = this.#callInFlight;
    if (call !== undefined) {
      // Those of its promise refer to the handle, which must be collectable from now on.
      const end: Resolve = (value) => this.end(value);
      const fail: Reject = (reason) => this.fail(reason);
      [call.resolve, call.reject] = call.extra?.follow?.(end, fail) ?? [end, fail];
      // It may have been cancelled before there was a stream in the worker.
      if (this.#consumer.isCancelled) this.#options.cancellation.stopStream(call);
    }
    const { onOpened } = this;
    this.onOpened = ignore;
    onOpened();
  }

  onItems(items: readonly unknown[], bytes: number): void {
    this.#consumer.push(items, bytes);
  }

  drop(): void {
    this.#consumer.drop();
  }

  /** Ends the stream as its reader can (`return()`). */
  cancel(): void {
    this.#consumer.cancel();
  }

  end(value: unknown): void {
    this.#consumer.end(value);
  }

  fail(reason: unknown): void {
    this.#consumer.fail(reason, this.isOfNext);
  }

  get #callInFlight(): PendingCall | undefined {
    return this.#call?.extra?.stream === this ? this.#call : undefined;
  }

  #acknowledge(batches: number): void {
    const call = this.#callInFlight;
    if (call === undefined) return;
    const { slot, generation, lane } = call;
    const message = { heddle: "credit", slot, generation, index: 0, batches } as const;
    this.#options.lanes.byId(lane)?.postStream(message);
  }

  #onWaiting(isWaiting: boolean): void {
    this.#updateIdle(isWaiting);
    if (isWaiting && this.#callInFlight !== undefined) this.#options.onWanted();
  }

  #updateIdle(isWaiting = this.#consumer.isWaiting): void {
    const call = this.#callInFlight;
    if (call !== undefined) this.#options.inFlight.setIdle(call, !isWaiting && !this.#isAwaited);
  }
}
