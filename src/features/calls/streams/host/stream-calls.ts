/** Links the calls whose results are streams with their readers, and reads the records that do not end their calls. */
import type { PoolParts } from "../../../../api/pool/parts.ts";
import { ProtocolError } from "../../../../errors.ts";
import type { ItemSink } from "../../../../host/calls/call-extra.ts";
import type { PendingCall, Reject, Resolve } from "../../../../host/calls/in-flight.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";
import {
  DESCRIPTOR_WORD,
  EVENTS,
  GENERATION_WORD,
  kindOf,
  OPENED,
  SLOT_WORD,
  TASK_WORD,
} from "../../../../lane/frame.ts";
import { createCancellation } from "../../limits/host/cancellation.ts";
import { toReadableStream } from "../sources/readable.ts";
import type { ConsumerOptions, StreamConsumer } from "../stream-consumer.ts";
import type { ResultStream } from "./result-stream.ts";
import { createResultStream } from "./stream-ends.ts";

/** Longest time between two reads of a stream that `shutdown()` waits for. A reader may wait for the sink of its items. */
const UNREAD_MS = 1000;
/** Items that count as one more response. */
const ITEMS_PER_RESPONSE = 16;

export function createStreams(host: PoolParts): StreamCalls {
  return new StreamCalls(host);
}

export class StreamCalls {
  /** Items that have arrived. */
  #items = 0;
  readonly #host: PoolParts;

  constructor(host: PoolParts) {
    this.#host = host;
  }

  counters(): Readonly<Record<"streamItems", number>> {
    return { streamItems: this.#items };
  }

  /**
   * Calls back when for a while only streams have been in flight that nobody has read: a pool that closes does not wait for them.
   * Returns a function that ends the watch.
   */
  onUnread(onUnread: () => void): () => void {
    const { dispatcher: { inFlight }, spec: { runtime } } = this.#host;
    /** Items that the readers have taken so far; undefined: somebody waits for a call. */
    const read = (): number | undefined => {
      if (inFlight.hasAwaitedCalls) return undefined;
      return inFlight.callsOf().reduce((sum, { extra }) => sum + (extra?.stream?.taken ?? 0), 0);
    };
    let before = read();
    const timer = runtime.setInterval(() => {
      const now = read();
      if (now !== undefined && now === before) onUnread();
      before = now;
    }, UNREAD_MS);
    return () => timer.clear();
  }

  /** Creates the stream of a call that will be made. */
  create(): StreamSink {
    return new StreamSink(this.#host);
  }

  /** Reads and releases a record of a stream, or of events. `call`: undefined if it is over. */
  read(lane: Lane, index: number, call: PendingCall | undefined): void {
    const { endpoint } = lane;
    const { i32 } = endpoint.rx.memory;
    const word = index >> 2;
    const descriptor = i32[word + DESCRIPTOR_WORD]!;
    const slot = i32[word + SLOT_WORD]!;
    const generation = i32[word + GENERATION_WORD]!;
    const bytes = i32[word + TASK_WORD]!;
    let values: readonly unknown[] = [];
    let failure: { readonly error: unknown } | undefined;
    if (call === undefined) endpoint.discard(index);
    else {
      endpoint.decoder.declared = undefined;
      try {
        values = endpoint.readValues(index, descriptor);
      } catch (error) {
        if (error instanceof ProtocolError) throw error;
        failure = { error };
      }
    }
    if (endpoint.rx.release()) lane.wakeForSpace();
    const kind = kindOf(descriptor);
    if (call === undefined) {
      if (kind === OPENED) lane.postStream({ heddle: "cancel", slot, generation, index: 0 });
      return;
    }
    if (call.extra !== undefined) call.extra.isHeard = true;
    if (failure !== undefined) this.#fail(call, failure.error);
    else if (kind === EVENTS) call.extra?.onEvents?.(values);
    else if (kind === OPENED) {
      const [isReadable, highWaterMark] = values[0] as [boolean, number];
      this.#open(call, isReadable, highWaterMark);
    } else {
      this.#items += values.length;
      this.#host.dispatcher.responses.taken += Math.floor(values.length / ITEMS_PER_RESPONSE);
      call.extra?.stream?.onItems(values, bytes);
    }
  }

  /** The worker begins to send the call's result as a stream. Settles a call that did not expect one. */
  #open(call: PendingCall, isReadable: boolean, highWaterMark: number): void {
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

  /** Items of the call cannot be read on this thread. */
  #fail(call: PendingCall, error: unknown): void {
    const stream = call.extra?.stream;
    if (stream !== undefined) stream.isOfNext = true;
    this.#host.part(createCancellation).abort(call, error);
  }
}

/** The stream of one call. */
export class StreamSink implements ItemSink, ConsumerOptions {
  /** Called when the result turns out to be a stream. */
  onOpened: (() => void) | undefined;
  isOfNext = false;
  isOpen = false;
  readonly consumer: StreamConsumer;
  #isReadable = false;
  #isAwaited = false;
  readonly #host: PoolParts;
  /** Until the caller has it: the call refers to this object, and the handle must be collectable. */
  #handle: ResultStream<unknown, unknown> | undefined;
  #call: PendingCall | undefined;

  constructor(host: PoolParts) {
    this.#host = host;
    ({ consumer: this.consumer, handle: this.#handle } = createResultStream(this));
  }

  get isWaitedFor(): boolean {
    return this.consumer.isWaiting || this.consumer.isCancelled;
  }

  get taken(): number {
    return this.consumer.taken;
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
    if (this.consumer.isCancelled) this.cancel();
  }

  open(highWaterMark: number, isReadable: boolean): void {
    this.isOpen = true;
    this.#isReadable = isReadable;
    this.consumer.highWaterMark = highWaterMark;
    this.#isAwaited = false;
    this.#updateIdle();
    const call = this.#callInFlight;
    if (call !== undefined) {
      // Those of its promise refer to the handle, which must be collectable from now on.
      const end: Resolve = (value) => this.consumer.end(value);
      const fail: Reject = (reason) => this.fail(reason);
      [call.resolve, call.reject] = call.extra?.follow?.(end, fail) ?? [end, fail];
      // It may have been cancelled before there was a stream in the worker.
      if (this.consumer.isCancelled) this.cancel();
    }
    const { onOpened } = this;
    this.onOpened = undefined;
    onOpened?.();
  }

  onItems(items: readonly unknown[], bytes: number): void {
    this.consumer.push(items, bytes);
  }

  drop(): void {
    this.consumer.drop();
  }

  fail(reason: unknown): void {
    this.consumer.fail(reason, this.isOfNext);
  }

  /** For the consumer. */
  acknowledge(batches: number): void {
    const call = this.#callInFlight;
    if (call === undefined) return;
    const { slot, generation, lane } = call;
    const message = { heddle: "credit", slot, generation, index: 0, batches } as const;
    this.#host.dispatcher.lanes.byId(lane)?.postStream(message);
  }

  /** For the consumer. */
  cancel(): void {
    const call = this.#callInFlight;
    if (call !== undefined) this.#host.part(createCancellation).stopStream(call);
  }

  /** For the consumer. While somebody waits, the process must keep running. */
  onWaiting(isWaiting: boolean): void {
    this.#updateIdle(isWaiting);
    if (!isWaiting || this.#callInFlight === undefined) return;
    this.#host.safety.ref();
    this.#host.onBusy();
  }

  get #callInFlight(): PendingCall | undefined {
    return this.#call?.extra?.stream === this ? this.#call : undefined;
  }

  #updateIdle(isWaiting = this.consumer.isWaiting): void {
    const call = this.#callInFlight;
    if (call === undefined) return;
    this.#host.dispatcher.inFlight.setIdle(call, !isWaiting && !this.#isAwaited);
  }
}
