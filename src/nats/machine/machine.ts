/**
 * The calls that one machine runs in its local pool: takes them from the queue group while it has room, answers each, and
 * tells callers that ask which ones it has. docs/internals/nats.md explains the protocol.
 */
import { Map, Promise } from "../../builtins.ts";
import type { Msg, NatsConnection } from "@nats-io/transport-node";
import { ResultStream } from "../../features/calls/streams/host/result-stream.ts";
import { ProtocolError, type WorkerLoss, WorkerLostError } from "../../errors.ts";
import type { Runtime, Timer } from "../../runtimes/runtime.ts";
import { isReadableStream } from "../../features/calls/streams/sources/readable.ts";
import { type AnyIterator, iteratorOf } from "../../features/calls/streams/stream-producer.ts";
import {
  bareMessage,
  BEGIN,
  BUSY,
  CALL,
  CANCEL,
  CANCEL_STREAM,
  CREDIT,
  EVENT,
  FAILURE,
  GENERATOR,
  type Header,
  headerOf,
  ITEMS,
  ITERABLE,
  PROBE,
  READABLE,
  readHeader,
  RESULT,
  RESULT_STREAM,
  SENT,
  STOPPED,
  STREAM,
  STREAM_END,
  STREAM_FAILURE,
  WAITING,
} from "../wire/frames.ts";
import { isAboutLarge, LargeMessages, MessageQueue } from "../wire/large-messages.ts";
import { AwakeClock } from "../awake-clock.ts";
import { lossOf } from "../loss.ts";
import { MessageCodec } from "../wire/message-codec.ts";
import { StreamSender } from "../wire/stream-sender.ts";
import { isBelow, machineSubject, randomId, type ResolvedServe, waitFor } from "../options.ts";
import type { MachineStatistics } from "../statistics.ts";
import { ArgumentReaders } from "./argument-readers.ts";
import { localCall, type LocalCalls, optionsOf } from "./local-calls.ts";
import { Presence } from "./presence.ts";
import { abort, type Running } from "./running.ts";

/** A stream is cancelled if its caller has been silent for this time: it probes calls that take long. */
const SILENT_CALLER_MS = 60_000;
const SWEEP_MS = 2000;
/** Calls that a machine takes beyond `maxInFlight` because others wait for their readers. */
const MAX_PAUSED = 1024;

export class Machine {
  readonly id: number = randomId();
  readonly codec: MessageCodec;
  readonly #runtime: Runtime;
  readonly #options: ResolvedServe;
  readonly #connection: NatsConnection;
  readonly #calls: LocalCalls;
  readonly #running = new Map<string, Running>();
  readonly #large: LargeMessages;
  readonly #presence: Presence;
  readonly #clock: AwakeClock;
  readonly #sweep: Timer;
  #isDraining = false;
  #onIdle: (() => void) | undefined;
  /** Calls whose stream waits for its reader. */
  #paused = 0;
  #completed = 0;
  #failed = 0;
  #refused = 0;
  #busyMs = 0;

  constructor(
    runtime: Runtime,
    options: ResolvedServe,
    connection: NatsConnection,
    calls: LocalCalls,
  ) {
    this.#runtime = runtime;
    this.#options = options;
    this.#connection = connection;
    this.#calls = calls;
    this.codec = new MessageCodec(runtime, options.maxPayloadBytes);
    this.#clock = new AwakeClock(runtime.now, SWEEP_MS);
    this.#large = new LargeMessages({
      maxPayloadBytes: options.maxPayloadBytes,
      maxMessageBytes: () => connection.info?.max_payload ?? 1024 * 1024,
      sender: this.id,
      now: this.#clock.now,
    });
    this.#presence = new Presence({
      codec: this.codec,
      runtime,
      sender: this.id,
      name: options.name,
      running: this.#running,
      publish: (subject, message) => {
        if (this.#mayAnswer(subject)) this.#publish(subject, message);
      },
      onAsked: (running) => this.#onAsked(running),
    });
    this.#sweep = runtime.setInterval(() => this.#dropStalled(), SWEEP_MS);
    this.#sweep.unref();
  }

  /** The subject that only this machine gets. */
  get subject(): string {
    return machineSubject(this.#options.subject, this.id);
  }

  stats(): MachineStatistics {
    const ended = this.#completed + this.#failed;
    return {
      inFlight: this.#running.size,
      completed: this.#completed,
      failed: this.#failed,
      refused: this.#refused,
      averageMs: ended === 0 ? 0 : this.#busyMs / ended,
    };
  }

  /** Streams that wait for their readers do not count: the reader may be a call that waits for room. */
  get #isFull(): boolean {
    const { maxInFlight } = this.#options;
    return this.#running.size - this.#paused >= maxInFlight ||
      this.#running.size >= maxInFlight + MAX_PAUSED;
  }

  /** A message of the queue group. Never throws. */
  readonly onCall = (error: Error | null, msg: Pick<Msg, "data" | "reply">): void => {
    const { reply, data } = msg;
    const header = error === null ? readHeader(data) : undefined;
    if (reply === undefined || header === undefined || !this.#mayAnswer(reply)) return;
    if (this.#isDraining || this.#isFull) {
      this.#refused++;
      this.#publish(reply, bareMessage(BUSY, { sender: this.id }));
      return;
    }
    if (this.#running.has(reply)) return;
    const running = this.#add(reply);
    try {
      if (header.kind === CALL) this.#start(running, header, data);
      else if (header.kind === BEGIN) this.#begin(running, header);
      else throw new ProtocolError(`A request of kind ${header.kind}.`);
    } catch (reason) {
      this.#fail(running, reason);
    }
  };

  /** A message for this machine or for all. Never throws. */
  readonly onMessage = (error: Error | null, msg: Pick<Msg, "data" | "reply">): void => {
    const header = error === null ? readHeader(msg.data) : undefined;
    if (header === undefined) return;
    try {
      if (header.kind === PROBE) this.#presence.onProbe(header, msg.data);
      else {
        const running = this.#running.get(msg.reply ?? "");
        if (running !== undefined) this.#tell(running, header, msg.data);
      }
    } catch {
      // A damaged message about a call: nothing in it can be trusted, its sender included.
    }
  };

  /** Takes no more calls. Resolves when none is running, or after `timeoutMs`; those left are reported as stopped. */
  async drain(timeoutMs: number): Promise<void> {
    this.#isDraining = true;
    if (this.#running.size > 0) {
      await waitFor(this.#runtime, timeoutMs, (resolve) => this.#onIdle = resolve);
    }
    this.#sweep.clear();
    for (const running of this.#running.values()) this.#stop(running);
  }

  /** The call does not end here: its caller may send it again. `reason`: undefined if this machine shuts down. */
  #stop(running: Running, reason?: string): void {
    const values = [this.#options.name, ...(reason === undefined ? [] : [reason])];
    this.#publish(running.reply, this.codec.encodeOwn(STOPPED, values, { sender: this.id }));
    this.#forget(running);
    if (this.#running.size === 0) this.#onIdle?.();
  }

  #add(reply: string): Running {
    const running: Running = {
      reply,
      startedAt: this.#runtime.now(),
      heardAt: this.#clock.now(),
      controller: undefined,
      result: undefined,
      sender: undefined,
      streamKind: ITERABLE,
      isPaused: false,
      readers: undefined,
      answers: new MessageQueue((message) => this.#sendNow(running, message)),
    };
    this.#running.set(reply, running);
    this.#presence.add(running);
    return running;
  }

  #mayAnswer(subject: string): boolean {
    return isBelow(this.#options.inboxPrefix, subject);
  }

  #isRunning(running: Running): boolean {
    return this.#running.get(running.reply) === running;
  }

  #begin(running: Running, header: Header): void {
    const post = (message: Uint8Array): void => this.#publish(running.reply, message);
    if (this.#large.begin(running.reply, header, post, false)) return;
    this.#refused++;
    this.#running.delete(running.reply);
    this.#publish(running.reply, bareMessage(BUSY, { sender: this.id }));
  }

  #start(running: Running, header: Header, bytes: Uint8Array): void {
    const [name, settings, ...args] = this.codec.decode(
      bytes,
      header,
      (index, kind) => this.#readersOf(running).open(index, kind === 1),
    );
    if (header.kind !== CALL || typeof name !== "string") {
      throw new ProtocolError("A request that is not a call.");
    }
    const call = localCall(this.#calls, name);
    const onEvent = (value: unknown): void => this.#event(running, value);
    const options = optionsOf(running, settings, header.number, onEvent);
    const result = (options === undefined ? call : call.with(options))(...args);
    running.result = result;
    if (result instanceof ResultStream) {
      this.#stream(running, result, GENERATOR);
      return;
    }
    (result as Promise<unknown>).then(
      (value) => {
        if (value instanceof ResultStream) this.#stream(running, value, ITERABLE);
        else if (typeof value === "object" && value !== null && isReadableStream(value)) {
          this.#stream(running, iteratorOf(value)!, READABLE);
        } else this.#succeed(running, value);
      },
      (reason) => this.#fail(running, reason),
    );
  }

  #readersOf(running: Running): ArgumentReaders {
    return running.readers ??= new ArgumentReaders({
      codec: this.codec,
      sender: this.id,
      post: (message) => {
        if (this.#isRunning(running)) this.#publish(running.reply, message);
      },
      loss: () => this.#lossOf("a part of a stream among the arguments was lost on the way"),
    });
  }

  #lossOf(reason: string): WorkerLoss {
    return lossOf(this.#options.name, reason);
  }

  #event(running: Running, value: unknown): void {
    if (!this.#isRunning(running)) return;
    let message: Uint8Array;
    try {
      message = this.codec.encode(EVENT, [], [value], "event", { sender: this.id });
    } catch (reason) {
      this.#fail(running, reason); // as where `emit` refuses a value
      abort(running, reason);
      return;
    }
    void running.answers.send(message);
  }

  #stream(running: Running, iterator: AnyIterator, kind: number): void {
    if (!this.#isRunning(running)) {
      Promise.resolve(iterator.return?.()).catch(() => {}); // it was cancelled meanwhile
      return;
    }
    running.streamKind = kind;
    this.#announceStream(running);
    running.sender = new StreamSender(iterator, {
      codec: this.codec,
      runtime: this.#runtime,
      stream: RESULT_STREAM,
      sender: this.id,
      send: (message) => running.answers.send(message),
      onPause: (isPaused) => this.#pause(running, isPaused),
      onEnd: () => this.#end(running, true),
    });
    running.sender.start();
  }

  #announceStream(running: Running): void {
    const word = running.streamKind;
    void running.answers.send(bareMessage(STREAM, { sender: this.id, word }));
  }

  /** Its caller lives, and may not know that the result is a stream: it asks for lost items when it knows. */
  #onAsked(running: Running): void {
    running.heardAt = this.#clock.now();
    if (running.sender !== undefined) this.#announceStream(running);
  }

  #pause(running: Running, isPaused: boolean): void {
    if (running.isPaused === isPaused || !this.#isRunning(running)) return;
    running.isPaused = isPaused;
    this.#paused += isPaused ? 1 : -1;
  }

  #succeed(running: Running, value: unknown): void {
    let message: Uint8Array;
    try {
      message = this.codec.encode(RESULT, [], [value], "result", { sender: this.id });
    } catch (reason) {
      this.#fail(running, reason);
      return;
    }
    this.#respond(running, message, true);
  }

  #fail(running: Running, reason: unknown): void {
    const message = this.codec.encodeFailure(FAILURE, reason, { sender: this.id });
    this.#respond(running, message, false);
  }

  #respond(running: Running, message: Uint8Array, isGood: boolean): void {
    const sent = running.answers.send(message);
    if (sent === undefined) this.#end(running, isGood);
    else void sent.then(() => this.#end(running, isGood));
  }

  #end(running: Running, isGood: boolean): void {
    if (!this.#isRunning(running)) return;
    this.#forget(running);
    if (isGood) this.#completed++;
    else this.#failed++;
    this.#busyMs += this.#runtime.now() - running.startedAt;
    if (this.#running.size === 0) this.#onIdle?.();
  }

  /** The call is over. `reason`: what a task gets that still reads its arguments; undefined: StreamClosedError. */
  #forget(running: Running, reason?: unknown): void {
    this.#pause(running, false);
    this.#running.delete(running.reply);
    this.#large.drop(running.reply);
    running.readers?.close(reason);
  }

  /** Resolves when the answer has left; undefined: it has. */
  #sendNow(running: Running, message: Uint8Array): Promise<unknown> | undefined {
    if (!this.#isRunning(running)) return undefined;
    const { reply } = running;
    return this.#large.send(reply, message, (part) => this.#publish(reply, part));
  }

  #publish(subject: string, message: Uint8Array): void {
    try {
      this.#connection.publish(subject, message);
    } catch {
      // The connection is closed, or a hostile caller gave a subject that is none.
    }
  }

  #tell(running: Running, header: Header, bytes: Uint8Array): void {
    running.heardAt = this.#clock.now();
    const { kind } = header;
    if (isAboutLarge(kind)) this.#receiveLarge(running, header, bytes);
    else if (kind === CANCEL) {
      const [reason] = this.codec.decode(bytes, header);
      this.#cancel(running, reason);
    } else if (kind === CREDIT || kind === WAITING || kind === CANCEL_STREAM) {
      running.sender?.onReader(header);
    } else if (
      kind === ITEMS || kind === SENT || kind === STREAM_END || kind === STREAM_FAILURE
    ) {
      try {
        running.readers?.receive(header, bytes);
      } catch (reason) {
        this.#fail(running, reason);
        abort(running, reason);
      }
    }
  }

  #receiveLarge(running: Running, header: Header, bytes: Uint8Array): void {
    const { reply } = running;
    try {
      const post = (part: Uint8Array): void => this.#publish(reply, part);
      const whole = this.#large.receive(reply, header, bytes, post);
      if (whole === undefined) return;
      const inner = headerOf(whole, "A message in chunks");
      if (running.result === undefined) this.#start(running, inner, whole);
      else if (!isAboutLarge(inner.kind)) this.#tell(running, inner, whole);
    } catch (reason) {
      if (reason instanceof WorkerLostError && running.result === undefined) {
        this.#stop(running, reason.reason); // it has not run
        return;
      }
      this.#fail(running, reason);
      abort(running, reason);
    }
  }

  /** The caller is no longer interested: aborts the task, and answers no more. */
  #cancel(running: Running, reason: unknown): void {
    this.#forget(running, reason);
    abort(running, reason);
    this.#failed++;
    if (this.#running.size === 0) this.#onIdle?.();
  }

  #dropStalled(): void {
    this.#clock.tick();
    const now = this.#clock.now();
    for (const reply of this.#large.dropStalled()) {
      const running = this.#running.get(reply);
      if (running !== undefined) this.#cancel(running, undefined);
    }
    for (const running of this.#running.values()) {
      running.readers?.remind();
      const isStream = running.sender !== undefined || running.readers !== undefined;
      if (!isStream || now - running.heardAt <= SILENT_CALLER_MS) continue;
      this.#lose(running, `its caller has not asked for it for ${SILENT_CALLER_MS} ms`);
    }
  }

  /** Gives up a call with streams, whose messages do not arrive. */
  #lose(running: Running, reason: string): void {
    const failure = new WorkerLostError(this.#lossOf(reason));
    const kind = running.sender === undefined ? FAILURE : STREAM_FAILURE;
    this.#publish(running.reply, this.codec.encodeFailure(kind, failure, { sender: this.id }));
    this.#cancel(running, failure);
  }
}
