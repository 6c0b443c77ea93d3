/** One call of a remote task at its caller: what it needs to be sent again, and the only place where it settles. */
import { queueMicrotask } from "../../builtins.ts";
import type { CallSettings } from "../../host/calls/call-settings.ts";
import type { ResultStream } from "../../features/calls/streams/host/result-stream.ts";
import { createResultStream } from "../../features/calls/streams/host/stream-ends.ts";
import { toReadableStream } from "../../features/calls/streams/sources/readable.ts";
import type { StreamConsumer } from "../../features/calls/streams/stream-consumer.ts";
import type { CallSources } from "../../features/calls/streams/sources/call-sources.ts";
import { InvalidArgumentError, TimeoutError, WorkerLostError } from "../../errors.ts";
import type { Runtime, Timer } from "../../runtimes/runtime.ts";
import { lossOf } from "../loss.ts";
import { GENERATOR, type Header, READABLE, RESULT_STREAM } from "../wire/frames.ts";
import { StreamReceiver } from "../wire/stream-receiver.ts";
import type { StreamSender } from "../wire/stream-sender.ts";
import { RemoteResult, type ResultSource } from "./remote-result.ts";

/** What a call asks of its pool. */
export interface CallEvents {
  /** Sends a message to its machine, unless it is settled or the machine is not known. */
  tell(call: RemoteCall, message: Uint8Array): void;
}

/** Pause before a refused call is sent again: doubled each time, up to the maximum, with half of it random. */
const FIRST_PAUSE_MS = 1;
const MAX_PAUSE_MS = 100;

const LOST_BATCH = "a part of its stream was lost on the way";

export class RemoteCall implements ResultSource {
  readonly task: string;
  readonly settings: CallSettings;
  readonly createdAt: number;
  /** What answers refer to; each attempt has a new one. */
  token = "";
  /** Undefined while arguments are pending, and once no attempt can follow. */
  message: Uint8Array | undefined;
  /** The machine that has accepted it; 0: not known. */
  machine = 0;
  /** When the last attempt was sent; 0: it is not on its way. */
  sentAt = 0;
  /** Attempts that no machine took, in a row, and the time of the first one that found none; -1: none. */
  refusals = 0;
  machinesMissingSince = -1;
  retriesLeft: number;
  /** Probes in a row whose answer did not name it. */
  timesMissing = 0;
  deadlineTimer: Timer | undefined;
  retryTimer: Timer | undefined;
  stopListening: (() => void) | undefined;
  /** The arguments that are streams. */
  sources: CallSources<StreamSender> | undefined;
  isSettled = false;
  /** Whether a stream of items has begun. */
  hasStream = false;
  hasSucceeded = false;
  /** Whether the task is a generator function. */
  isGenerator = false;
  /** Undefined once a stream has begun: whoever drops it then cancels the stream. */
  #result: RemoteResult | undefined;
  #resolve!: (value: unknown) => void;
  #reject!: (reason: unknown) => void;
  /** What the machine was told last of the time that is left. */
  #machineLimitMs = 0;
  #consumer: StreamConsumer | undefined;
  #receiver: StreamReceiver | undefined;
  /** What a reader gets that comes after the end. */
  #lateReason: (() => unknown) | undefined;
  readonly #events: CallEvents;
  /** For the listener of events: runs code in the asynchronous context of the caller. */
  readonly #inContext: ReturnType<Runtime["bindContext"]> | undefined;

  constructor(
    task: string,
    settings: CallSettings,
    { now, bindContext }: Pick<Runtime, "now" | "bindContext">,
    events: CallEvents,
  ) {
    this.task = task;
    this.settings = settings;
    this.createdAt = now();
    this.#inContext = settings.onEvent === undefined ? undefined : bindContext();
    this.retriesLeft = settings.retries;
    this.#events = events;
    this.#result = new RemoteResult((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#result.attach(this);
  }

  /** For the caller. To be taken before the call can settle. */
  get result(): RemoteResult {
    return this.#result!;
  }

  /** Milliseconds until the deadline, for the machine of an attempt; 0: there is none. */
  limitMachine(now: number): number {
    const { timeoutMs } = this.settings;
    const remainingMs = Math.max(1, timeoutMs - (now - this.createdAt));
    return this.#machineLimitMs = timeoutMs === Infinity ? 0 : remainingMs;
  }

  /** Counts a refusal. */
  nextPauseMs(): number {
    const most = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.refusals++, 10));
    return most * (0.5 + Math.random() / 2);
  }

  openStream(): ResultStream<unknown, unknown> {
    const receiver = new StreamReceiver({
      stream: RESULT_STREAM,
      sender: 0,
      post: (message) => this.#events.tell(this, message),
      loss: () => lossOf(undefined, LOST_BATCH),
    });
    const { consumer, handle } = createResultStream({
      acknowledge: receiver.acknowledge,
      cancel: receiver.cancel,
      onWaiting: () => {},
    });
    receiver.attach(consumer);
    this.#consumer = consumer;
    this.#receiver = receiver;
    if (this.#lateReason !== undefined) consumer.fail(this.#lateReason());
    return handle;
  }

  /** The task's result is a stream. */
  beginStream(kind: number): void {
    if (this.hasStream) return;
    this.hasStream = true;
    const isGenerator = this.isGenerator = kind === GENERATOR;
    this.retriesLeft = 0;
    this.message = undefined;
    const result = this.#result!;
    this.#result = undefined;
    if (isGenerator) {
      if (this.#consumer === undefined) result.adopt(this.openStream());
      else if (this.#consumer.isCancelled) this.#receiver!.cancel(); // before the machine had a stream
      result.catch(() => {}); // only those who await it are told
      this.#reject(
        new InvalidArgumentError(`"${this.task}" is a generator: read the call by for await.`),
      );
      return;
    }
    const early = this.#consumer;
    const handle = this.openStream();
    this.#resolve(kind === READABLE ? toReadableStream(handle) : handle);
    early?.fail(this.#notGenerator());
  }

  /** A message of the stream has arrived. Throws WorkerLostError or ProtocolError. */
  receive(header: Header, values: unknown[], bytes: number): void {
    if (!this.hasStream) throw new WorkerLostError(lossOf(undefined, LOST_BATCH));
    this.#receiver!.receive(header, values, bytes);
  }

  /** Gives an event to the listener, in a microtask of its own: an error that it throws is uncaught and not the call's. */
  emit(value: unknown): void {
    queueMicrotask(() => this.#inContext?.(() => this.settings.onEvent!(value)));
  }

  /** To be called now and then while it runs. */
  remind(): void {
    if (this.hasStream || this.#consumer?.isCancelled === true) this.#receiver!.remind();
  }

  /** The stream has ended, or the task has returned. */
  succeed(value: unknown): void {
    this.hasSucceeded = true;
    this.#settle();
    if (this.hasStream) {
      this.#consumer?.end(value);
      return;
    }
    this.#resolve(value);
    this.#lateReason = () => this.#notGenerator();
    const consumer = this.#consumer;
    if (consumer?.isCancelled === true) consumer.end(undefined);
    else consumer?.fail(this.#notGenerator());
  }

  /** `isOfNext`: a stream failed because its iterator was asked for items. */
  fail(reason: unknown, isOfNext = false): void {
    this.#settle();
    this.#lateReason = () => reason;
    this.#consumer?.fail(reason, isOfNext);
    if (!this.hasStream) this.#reject(reason);
  }

  /** A limit has expired. */
  expire(error: TimeoutError): void {
    const { timeoutValue } = this.settings;
    if (timeoutValue === undefined || this.hasStream) this.fail(error);
    else this.succeed(timeoutValue);
  }

  /** A limit that the machine enforced has expired, or the task threw. */
  failRemotely(thrown: unknown, isOfNext: boolean): void {
    const { timeoutMs, runTimeoutMs, stallMs } = this.settings;
    if (!(thrown instanceof TimeoutError)) this.fail(thrown, isOfNext);
    else if (thrown.kind === "run" && thrown.limitMs === runTimeoutMs) this.expire(thrown);
    else if (thrown.kind === "stall" && thrown.limitMs === stallMs) this.expire(thrown);
    else if (thrown.kind === "call" && thrown.limitMs === this.#machineLimitMs) {
      // The machine's timer has fired before the caller's: it knows what was left of the limit.
      this.expire(new TimeoutError("call", timeoutMs));
    } else this.fail(thrown, isOfNext);
  }

  #notGenerator(): InvalidArgumentError {
    return new InvalidArgumentError(`"${this.task}" is not a generator: await the call.`);
  }

  #settle(): void {
    this.isSettled = true;
    this.message = undefined;
    this.#result = undefined;
    this.deadlineTimer?.clear();
    this.retryTimer?.clear();
    this.stopListening?.();
  }
}
