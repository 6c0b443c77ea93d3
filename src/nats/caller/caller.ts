/**
 * The calls of one `connectPool`: sends them, and settles each exactly once: by its response, an error, a limit, an
 * abort, or the loss of its machine. docs/internals/nats.md explains the protocol.
 */
import { Map } from "../../builtins.ts";
import type { Msg, NatsConnection } from "@nats-io/transport-node";
import type { CallSettings } from "../../host/calls/call-settings.ts";
import { reasonOf } from "../../protocol/abort-reason.ts";
import { ignoreRejections } from "../../host/dispatch/pending-arguments.ts";
import {
  NoMachinesError,
  PoolClosedError,
  ProtocolError,
  TimeoutError,
  WorkerLostError,
} from "../../errors.ts";
import type { Runtime, Timer } from "../../runtimes/runtime.ts";
import { endSource, endStreams } from "../../features/calls/streams/sources/open-source.ts";
import type { AnyIterator } from "../../features/calls/streams/stream-producer.ts";
import type { CallSources } from "../../features/calls/streams/sources/call-sources.ts";
import {
  ACCEPTED,
  ALIVE,
  BUSY,
  CANCEL_STREAM,
  CREDIT,
  EVENT,
  FAILURE,
  type Header,
  headerOf,
  ITEMS,
  OF_RETURN,
  ownVersion,
  PROBE,
  RESULT,
  SENT,
  setNumber,
  STOPPED,
  STREAM,
  STREAM_END,
  STREAM_FAILURE,
  WAITING,
} from "../wire/frames.ts";
import { isAboutLarge, LargeMessages, MessageQueue } from "../wire/large-messages.ts";
import { MessageCodec } from "../wire/message-codec.ts";
import { createSenders, type StreamSender } from "../wire/stream-sender.ts";
import {
  allSubject,
  callSubject,
  inboxOf,
  machineSubject,
  NO_CALL,
  randomId,
  type ResolvedConnect,
  tokenLists,
  waitFor,
} from "../options.ts";
import { AwakeClock } from "../awake-clock.ts";
import { lossOf } from "../loss.ts";
import type { RemotePoolStatistics } from "../statistics.ts";
import { cancelMessage, encodeCall } from "./call-message.ts";
import { EVERY_MACHINE, Liveness } from "./liveness.ts";
import { type CallEvents, RemoteCall } from "./remote-call.ts";
import type { RemoteResult } from "./remote-result.ts";

const CHECKS_PER_LOSS = 3;
/** Machines cancel streams of callers that do not probe them for a minute. */
const MAX_INTERVAL_MS = 20_000;

export class Caller implements CallEvents {
  readonly codec: MessageCodec;
  readonly #runtime: Runtime;
  readonly #options: ResolvedConnect;
  readonly #inbox: string;
  readonly #calls = new Map<string, RemoteCall>();
  readonly #liveness: Liveness;
  readonly #large: LargeMessages;
  readonly #clock: AwakeClock;
  readonly #check: Timer;
  #connection: NatsConnection | undefined;
  #isClosed = false;
  /** Why no call can be made any more. */
  #failure: unknown;
  #token = 0;
  #onIdle: (() => void) | undefined;
  #counts = { completed: 0, failed: 0, retried: 0, timedOut: 0, aborted: 0, lateResponses: 0 };

  constructor(runtime: Runtime, options: ResolvedConnect) {
    this.#runtime = runtime;
    this.#options = options;
    this.codec = new MessageCodec(runtime, options.maxPayloadBytes);
    const intervalMs = Math.min(options.lostAfterMs / CHECKS_PER_LOSS, MAX_INTERVAL_MS);
    this.#clock = new AwakeClock(runtime.now, intervalMs);
    this.#large = new LargeMessages({
      maxPayloadBytes: options.maxPayloadBytes,
      maxMessageBytes: () => this.#maxBytes,
      sender: 0,
      now: this.#clock.now,
    });
    this.#inbox = inboxOf(options.inboxPrefix, randomId());
    this.#liveness = new Liveness({
      intervalMs,
      checks: Math.round(options.lostAfterMs / intervalMs),
      calls: this.#calls,
      probe: (machine, tokens) => this.#probe(machine, tokens),
      now: runtime.now(),
      lose: (call, reason, machine) => this.#lose(call, reason, machine),
    });
    this.#check = runtime.setInterval(() => this.#onCheck(), intervalMs);
    this.#check.unref();
  }

  /** The connection is there: sends the calls that waited for it. */
  open(connection: NatsConnection): void {
    this.#connection = connection;
    connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, msg) => this.#receive(error, msg),
    });
    for (const call of this.#calls.values()) if (call.message !== undefined) this.#send(call);
  }

  /** No call can be made any more: rejects all. */
  close(failure: unknown): void {
    this.#check.clear();
    this.#isClosed = true;
    this.#failure ??= failure;
    for (const call of this.#calls.values()) {
      this.#cancel(call, failure);
      this.#settle(call, () => call.fail(failure));
    }
  }

  /** New calls reject from now on. Resolves when none is left, or after `timeoutMs`. */
  async drain(timeoutMs: number): Promise<void> {
    this.#isClosed = true;
    this.#failure = new PoolClosedError();
    if (this.#calls.size > 0) {
      await waitFor(this.#runtime, timeoutMs, (resolve) => this.#onIdle = resolve);
    }
    this.close(this.#failure);
  }

  stats(): RemotePoolStatistics {
    let queued = 0;
    for (const { sentAt } of this.#calls.values()) if (sentAt === 0) queued++;
    const { machines, machinesLost } = this.#liveness;
    return { inFlight: this.#calls.size, queued, machines, machinesLost, ...this.#counts };
  }

  call(task: string, settings: CallSettings, args: readonly unknown[]): RemoteResult {
    const call = new RemoteCall(task, settings, this.#runtime, this);
    const { result } = call;
    try {
      this.#admit(settings, args);
      this.#encode(call, args);
    } catch (error) {
      ignoreRejections(args, this.#runtime.isPromise);
      call.fail(error);
      return result;
    }
    this.#limit(call);
    this.#register(call);
    if (call.message !== undefined && this.#connection !== undefined) this.#send(call);
    return result;
  }

  /** Throws if no call may be made, and ends the streams among its arguments. */
  #admit({ signal }: CallSettings, args: readonly unknown[]): void {
    if (!this.#isClosed && signal?.aborted !== true) return;
    endStreams(args);
    if (!this.#isClosed) this.#counts.aborted++;
    throw this.#isClosed ? this.#failure : reasonOf(signal!);
  }

  /** Encodes the arguments now; pending ones when they are known. */
  #encode(call: RemoteCall, args: readonly unknown[]): void {
    const { isPromise } = this.#runtime;
    const { message, completed, sources } = encodeCall(this.codec, isPromise, call, args);
    call.message = message;
    if (sources.length > 0 || completed !== undefined) call.sources = this.#senders(call, sources);
    completed?.then((whole) => {
      if (call.isSettled) return sources.forEach((source) => endSource(source!)); // found since then
      call.message = whole;
      if (this.#connection !== undefined) this.#send(call);
    }).catch((error) => {
      if (!call.isSettled) this.#settle(call, () => call.fail(error));
    });
  }

  #senders(call: RemoteCall, sources: (AnyIterator | undefined)[]): CallSources<StreamSender> {
    const queue = new MessageQueue((part) => this.#tellAll(call, part));
    return createSenders(sources, {
      codec: this.codec,
      runtime: this.#runtime,
      send: (part) => queue.send(part),
    });
  }

  #limit(call: RemoteCall): void {
    const { signal, timeoutMs } = call.settings;
    if (signal !== undefined) {
      const onAbort = (): void => this.abort(call, reasonOf(signal));
      signal.addEventListener("abort", onAbort, { once: true });
      call.stopListening = () => signal.removeEventListener("abort", onAbort);
    }
    if (timeoutMs !== Infinity) {
      call.deadlineTimer = this.#runtime.setTimeout(() => {
        this.#counts.timedOut++;
        const error = new TimeoutError("call", timeoutMs);
        this.#cancel(call, error);
        this.#settle(call, () => call.expire(error));
      }, timeoutMs);
    }
  }

  #register(call: RemoteCall): void {
    // Whoever guessed it could have another machine answer in the place of this one.
    call.token = `${(++this.#token).toString(36)}-${randomId().toString(36)}`;
    call.machine = call.timesMissing = 0;
    this.#calls.set(call.token, call);
  }

  /** Sends a call whose message is complete. */
  #send(call: RemoteCall): void {
    const message = call.message!;
    const now = this.#runtime.now();
    setNumber(message, call.limitMachine(now));
    call.sentAt = now;
    const subject = callSubject(this.#options.subject);
    const reply = this.#replyOf(call);
    const post = (part: Uint8Array): void => this.#publish(subject, part, reply);
    void this.#large.send(call.token, message, post, true);
  }

  /** Of one message. */
  get #maxBytes(): number {
    return this.#connection?.info?.max_payload ?? 1024 * 1024;
  }

  #replyOf(call: RemoteCall): string {
    return `${this.#inbox}.${call.token}`;
  }

  #publish(subject: string, message: Uint8Array, reply?: string): void {
    try {
      this.#connection?.publish(subject, message, reply === undefined ? undefined : { reply });
    } catch {
      // The connection is closed: `close` rejects all calls.
    }
  }

  /** Sends a message about a call to its machine; to all machines if it is not known. */
  #tell(call: RemoteCall, message: Uint8Array): void {
    const { subject } = this.#options;
    const to = call.machine === 0 ? allSubject(subject) : machineSubject(subject, call.machine);
    this.#publish(to, message, this.#replyOf(call));
  }

  /** The same for a message of any size. Resolves when it has left; undefined: it has. */
  #tellAll(call: RemoteCall, message: Uint8Array): Promise<unknown> | undefined {
    if (call.isSettled) return undefined;
    return this.#large.send(call.token, message, (part) => this.#tell(call, part));
  }

  #receive(error: Error | null, msg: Msg): void {
    if (error !== null) return; // the subscription was closed
    const token = msg.subject.slice(this.#inbox.length + 1);
    const call = this.#calls.get(token);
    if (msg.data.length === 0 && msg.headers?.code === 503) {
      // A machine that has the call and is gone is noticed by probes: the call may have run.
      if (call?.machine === 0) this.#onNoMachine(call);
      return;
    }
    try {
      const header = headerOf(msg.data, "An answer");
      this.#handle(token, call, header, msg.data);
    } catch (reason) {
      // What is damaged must not end the program; its call gets the error.
      if (call === undefined || call.isSettled) return;
      if (reason instanceof WorkerLostError) {
        this.#lose(call, reason.reason);
        return;
      }
      this.#cancel(call, reason); // the machine may wait for it
      this.#settle(call, () => call.fail(reason));
    }
  }

  #handle(token: string, call: RemoteCall | undefined, header: Header, bytes: Uint8Array): void {
    const now = this.#runtime.now();
    const { sender, kind } = header;
    if (sender > 0) this.#liveness.heard(sender, now);
    if (token === NO_CALL) {
      if (kind !== ACCEPTED && kind !== ALIVE) {
        throw new ProtocolError(`An answer of kind ${kind}.`);
      }
      const [name, ...tokens] = this.codec.decode(bytes, header);
      if (kind === ACCEPTED) this.#liveness.accepted(sender, String(name), tokens as string[]);
      else this.#liveness.alive(sender, String(name), tokens as string[]);
      return;
    }
    if (call === undefined) {
      if (kind === RESULT || kind === FAILURE) this.#counts.lateResponses++;
      return;
    }
    if (!isAboutLarge(kind)) {
      this.#answer(call, header, bytes);
      return;
    }
    call.machine = sender;
    const post = (part: Uint8Array): void => this.#tell(call, part);
    const whole = this.#large.receive(token, header, bytes, post);
    if (whole === undefined) return;
    this.#answer(call, headerOf(whole, "A result in chunks"), whole);
  }

  #answer(call: RemoteCall, header: Header, bytes: Uint8Array): void {
    const decode = (): unknown[] => this.codec.decode(bytes, header);
    switch (header.kind) {
      case RESULT:
      case STREAM_END: {
        const [value] = decode();
        if (header.kind === STREAM_END) call.receive(header, [], 0);
        this.#settle(call, () => call.succeed(value));
        return;
      }
      case FAILURE:
      case STREAM_FAILURE: {
        const [thrown] = decode();
        if (header.kind === STREAM_FAILURE) call.receive(header, [], 0);
        if (thrown instanceof TimeoutError) this.#counts.timedOut++;
        this.#settle(call, () => call.failRemotely(thrown, header.number !== OF_RETURN));
        return;
      }
      case BUSY:
        call.machinesMissingSince = -1;
        this.#sendLater(call);
        return;
      case STOPPED: {
        const [name, reason = "it was shut down"] = decode();
        this.#lose(call, String(reason), String(name));
        return;
      }
      case EVENT:
        for (const value of decode()) call.emit(value);
        return;
      case STREAM:
        call.machine = header.sender;
        call.beginStream(header.word);
        return;
      case ITEMS:
      case SENT:
        call.receive(header, decode(), bytes.length);
        return;
      case CREDIT:
      case WAITING:
      case CANCEL_STREAM:
        call.machine = header.sender;
        call.sources?.senderOf(header.word - 1)?.onReader(header);
        // It cannot be sent again.
        if (call.sources?.hasStarted === true) call.message = undefined;
        return;
      default:
        throw new ProtocolError(`An answer of kind ${header.kind}.`);
    }
  }

  /** No machine serves the subject at the moment. */
  #onNoMachine(call: RemoteCall): void {
    const now = this.#clock.now();
    if (call.machinesMissingSince < 0) call.machinesMissingSince = now;
    const { machineWaitMs, subject } = this.#options;
    if (now - call.machinesMissingSince < machineWaitMs) {
      this.#sendLater(call);
      return;
    }
    const text = `No machine has served "${subject}" for ${machineWaitMs} ms (machineWaitMs), ` +
      `with version ${ownVersion()} of the protocol.`;
    this.#settle(call, () => call.fail(new NoMachinesError(text)));
  }

  /** Sends a call again that did not run. */
  #sendLater(call: RemoteCall): void {
    if (call.message === undefined || call.sentAt === 0) return;
    this.#large.drop(call.token);
    // A new token at once: late answers to this attempt are not for the next one.
    this.#calls.delete(call.token);
    this.#register(call);
    call.sentAt = 0;
    call.retryTimer = this.#runtime.setTimeout(() => this.#send(call), call.nextPauseMs());
  }

  /** Its machine is lost, or a message: repeats the call if it may run twice, or rejects it. `machine`: its name, if known. */
  #lose(call: RemoteCall, reason: string, machine = this.#liveness.nameOf(call.machine)): void {
    this.#cancel(call, undefined); // in case only a message was lost
    call.machinesMissingSince = -1;
    if (call.retriesLeft > 0 && call.message !== undefined) {
      call.retriesLeft--;
      this.#counts.retried++;
      this.#sendLater(call);
      return;
    }
    this.#settle(call, () => call.fail(new WorkerLostError(lossOf(machine, reason))));
  }

  tell(call: RemoteCall, message: Uint8Array): void {
    // Nobody may have the call yet, and NATS would say that nobody takes it.
    if (!call.isSettled && call.machine !== 0) this.#tell(call, message);
  }

  abort(call: RemoteCall, reason: unknown): void {
    this.#counts.aborted++;
    this.#cancel(call, reason);
    this.#settle(call, () => call.fail(reason));
  }

  #cancel(call: RemoteCall, reason: unknown): void {
    if (call.sentAt !== 0) this.#tell(call, cancelMessage(this.codec, reason, this.#maxBytes));
  }

  /** The only way out of `#calls`. */
  #settle(call: RemoteCall, settle: () => void): void {
    this.#calls.delete(call.token);
    this.#large.drop(call.token);
    settle();
    call.sources?.onOver();
    if (call.hasSucceeded) this.#counts.completed++;
    else this.#counts.failed++;
    if (this.#calls.size === 0) this.#onIdle?.();
  }

  #probe(machine: number, tokens: readonly string[]): void {
    const { subject } = this.#options;
    const to = machine === EVERY_MACHINE ? allSubject(subject) : machineSubject(subject, machine);
    for (const part of tokenLists(tokens)) {
      this.#publish(to, this.codec.encodeOwn(PROBE, [this.#inbox, ...part], {}));
    }
  }

  #onCheck(): void {
    this.#clock.tick();
    for (const token of this.#large.dropStalled()) {
      const call = this.#calls.get(token);
      if (call !== undefined) this.#lose(call, "a part of its response was lost");
    }
    for (const call of this.#calls.values()) call.remind();
    if (this.#connection !== undefined) this.#liveness.check(this.#runtime.now());
  }
}
