/**
 * The calls that one machine runs in its local pool: takes them from the queue group while it has room, answers each, and
 * tells callers that ask which ones it has. docs/internals/nats.md explains the protocol.
 */
import type { Msg, NatsConnection } from "@nats-io/transport-node";
import { ResultStream } from "../../host/streams/result-stream.ts";
import { ProtocolError, WorkerLostError } from "../../errors.ts";
import type { Runtime, Timer } from "../../runtimes/runtime.ts";
import {
  ACCEPTED,
  ALIVE,
  bareMessage,
  BEGIN,
  BUSY,
  CALL,
  CANCEL,
  CANCEL_STREAM,
  CHUNK,
  CREDIT,
  EVENT,
  FAILURE,
  GRANT,
  type Header,
  PROBE,
  readHeader,
  RESULT,
  STOPPED,
  STREAM,
  STREAM_FAILURE,
} from "../wire/frames.ts";
import { MessageCodec } from "../wire/message-codec.ts";
import {
  machineSubject,
  NO_CALL,
  randomId,
  type ResolvedServe,
  tokenLists,
  waitFor,
} from "../options.ts";
import type { MachineStatistics } from "../statistics.ts";
import { localCall, type LocalCalls } from "./local-calls.ts";
import { ResultPump } from "./result-pump.ts";
import {
  chunkBytesFor,
  grantMessage,
  IncomingTransfers,
  MAX_OVERHEAD_BYTES,
  OutgoingTransfers,
  STALLED_MS,
  transferKey,
} from "../wire/transfers.ts";

/** Calls that have not ended this long after their start are announced to their callers. */
const ANNOUNCE_MS = 20;
/** A stream is cancelled if its caller has been silent for this time: it probes calls that take long. */
const SILENT_CALLER_MS = 60_000;
const SWEEP_MS = 2000;

interface Running {
  /** Subject for answers. It identifies the call. */
  readonly reply: string;
  readonly startedAt: number;
  heardAt: number;
  controller: AbortController | undefined;
  result: unknown;
  pump: ResultPump | undefined;
  /** Resolves when the answers so far have left; undefined: they have. */
  sending: Promise<void> | undefined;
}

export class Machine {
  readonly id: number = randomId();
  readonly codec: MessageCodec;
  readonly #runtime: Runtime;
  readonly #options: ResolvedServe;
  readonly #connection: NatsConnection;
  readonly #calls: LocalCalls;
  readonly #running = new Map<string, Running>();
  readonly #incoming: IncomingTransfers;
  readonly #outgoing = new OutgoingTransfers();
  readonly #sweep: Timer;
  #unannounced: Running[] = [];
  #isDraining = false;
  #onIdle: (() => void) | undefined;
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
    this.#incoming = new IncomingTransfers(options.maxPayloadBytes + MAX_OVERHEAD_BYTES);
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

  /** A message of the queue group. Never throws. */
  readonly onCall = (error: Error | null, msg: Pick<Msg, "data" | "reply">): void => {
    const { reply, data } = msg;
    const header = error === null ? readHeader(data) : undefined;
    if (reply === undefined || reply === "" || header === undefined) return; // not from a caller
    if (this.#isDraining || this.#running.size >= this.#options.maxInFlight) {
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
      if (header.kind === PROBE) this.#onProbe(header, msg.data);
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
    for (const running of this.#running.values()) {
      const { name } = this.#options;
      const stopped = this.codec.encodeOwn(STOPPED, [name], { sender: this.id });
      this.#publish(running.reply, stopped);
      this.#running.delete(running.reply);
    }
  }

  #add(reply: string): Running {
    const now = this.#runtime.now();
    const running: Running = {
      reply,
      startedAt: now,
      heardAt: now,
      controller: undefined,
      result: undefined,
      pump: undefined,
      sending: undefined,
    };
    this.#running.set(reply, running);
    if (this.#unannounced.length === 0) {
      this.#runtime.setTimeout(() => this.#announce(), ANNOUNCE_MS);
    }
    this.#unannounced.push(running);
    return running;
  }

  #isRunning(running: Running): boolean {
    return this.#running.get(running.reply) === running;
  }

  /** Tells callers which of their calls are here. */
  #announce(): void {
    const byInbox = new Map<string, string[]>();
    for (const running of this.#unannounced) {
      if (!this.#isRunning(running)) continue;
      const end = running.reply.lastIndexOf(".");
      const inbox = running.reply.slice(0, end);
      byInbox.set(inbox, [...byInbox.get(inbox) ?? [], running.reply.slice(end + 1)]);
    }
    this.#unannounced = [];
    for (const [inbox, tokens] of byInbox) this.#report(ACCEPTED, inbox, tokens);
  }

  #report(kind: number, inbox: string, tokens: readonly string[]): void {
    const { name } = this.#options;
    for (const part of tokenLists(tokens)) {
      const message = this.codec.encodeOwn(kind, [name, ...part], { sender: this.id });
      this.#publish(`${inbox}.${NO_CALL}`, message);
    }
  }

  #onProbe(header: Header, bytes: Uint8Array): void {
    const [inbox, ...tokens] = this.codec.decode(bytes, header) as string[];
    const now = this.#runtime.now();
    const present: string[] = [];
    const missing: string[] = [];
    for (const token of tokens) {
      const running = this.#running.get(`${inbox}.${token}`);
      if (running !== undefined) running.heardAt = now;
      (running === undefined ? missing : present).push(token);
    }
    if (present.length > 0) this.#report(ACCEPTED, String(inbox), present);
    this.#report(ALIVE, String(inbox), missing);
  }

  #begin(running: Running, header: Header): void {
    const { count: id, number: total } = header;
    const key = transferKey(running.reply, id);
    const grant = (chunks: number): void =>
      this.#publish(running.reply, grantMessage(this.id, id, chunks));
    if (this.#incoming.begin(key, total, this.#runtime.now(), grant)) return;
    this.#refused++;
    this.#running.delete(running.reply);
    this.#publish(running.reply, bareMessage(BUSY, { sender: this.id }));
  }

  #start(running: Running, header: Header, bytes: Uint8Array): void {
    const [name, settings, ...args] = this.codec.decode(bytes, header);
    if (header.kind !== CALL || typeof name !== "string") {
      throw new ProtocolError("A request that is not a call.");
    }
    const call = localCall(this.#calls, name);
    const options = this.#optionsOf(running, settings, header.number);
    const result = (options === undefined ? call : call.with(options))(...args);
    running.result = result;
    if (result instanceof ResultStream) {
      this.#pump(running, result, true);
      return;
    }
    (result as Promise<unknown>).then(
      (value) => {
        if (value instanceof ResultStream) this.#pump(running, value, false);
        else this.#succeed(running, value);
      },
      (reason) => this.#fail(running, reason),
    );
  }

  /** Options for the local call. Values of a hostile caller are refused by `with` itself. */
  #optionsOf(running: Running, given: unknown, remainingMs: number): object | undefined {
    if (typeof given !== "object" || given === null) return undefined;
    const { hasListener, isAbortable, timeout, priority, idempotent, maxRetries, killAfterMs } =
      given as Record<string, unknown>;
    if (isAbortable === true) running.controller = new AbortController();
    return {
      ...(timeout !== undefined && { timeout }),
      ...(priority !== undefined && { priority }),
      ...(idempotent !== undefined && { idempotent, maxRetries }),
      ...(killAfterMs !== undefined && { killAfterMs }),
      ...(remainingMs > 0 && { deadline: remainingMs }),
      ...(running.controller !== undefined && { signal: running.controller.signal }),
      ...(hasListener === true && { onEvent: (value: unknown) => this.#event(running, value) }),
    };
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
    void this.#send(running, message);
  }

  #pump(running: Running, stream: ResultStream<unknown, unknown>, isGenerator: boolean): void {
    if (!this.#isRunning(running)) {
      stream.return().catch(() => {}); // it was cancelled meanwhile
      return;
    }
    const word = isGenerator ? 1 : 0;
    void this.#send(running, bareMessage(STREAM, { sender: this.id, word }));
    running.pump = new ResultPump(stream, {
      codec: this.codec,
      sender: this.id,
      send: (message) => this.#send(running, message),
      macrotask: this.#runtime.macrotask,
    });
    void running.pump.run().finally(() => this.#end(running, true));
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
    const sent = this.#send(running, message);
    if (sent === undefined) this.#end(running, isGood);
    else void sent.then(() => this.#end(running, isGood));
  }

  #end(running: Running, isGood: boolean): void {
    if (!this.#isRunning(running)) return;
    this.#running.delete(running.reply);
    this.#outgoing.dropAll(`${running.reply} `);
    if (isGood) this.#completed++;
    else this.#failed++;
    this.#busyMs += this.#runtime.now() - running.startedAt;
    if (this.#running.size === 0) this.#onIdle?.();
  }

  /** Sends an answer after those before it. Undefined: it has left. */
  #send(running: Running, message: Uint8Array): Promise<void> | undefined {
    const { sending } = running;
    const sent = sending === undefined
      ? this.#sendNow(running, message)
      : sending.then(() => this.#sendNow(running, message));
    if (sent === undefined) return undefined;
    const whole = sent.then(() => {
      if (running.sending === whole) running.sending = undefined;
    });
    return running.sending = whole;
  }

  /** In chunks if it must. */
  #sendNow(running: Running, message: Uint8Array): Promise<void> | undefined {
    if (!this.#isRunning(running)) return undefined;
    const maxBytes = this.#connection.info?.max_payload ?? 1024 * 1024;
    if (message.length <= maxBytes) {
      this.#publish(running.reply, message);
      return undefined;
    }
    const id = this.#outgoing.nextId();
    const key = transferKey(running.reply, id);
    const sent = this.#outgoing.start(key, message, chunkBytesFor(maxBytes), this.#runtime.now());
    const begin = bareMessage(BEGIN, { sender: this.id, count: id, number: message.length });
    this.#publish(running.reply, begin);
    return sent.then(() => {});
  }

  #publish(subject: string, message: Uint8Array): void {
    try {
      this.#connection.publish(subject, message);
    } catch {
      // The connection is closed, or a hostile caller gave a subject that is none.
    }
  }

  #tell(running: Running, header: Header, bytes: Uint8Array): void {
    const now = this.#runtime.now();
    running.heardAt = now;
    const { kind, count: id, word } = header;
    if (kind === CANCEL) {
      const [reason] = this.codec.decode(bytes, header);
      this.#cancel(running, reason);
    } else if (kind === CREDIT) running.pump?.credit(word);
    else if (kind === CANCEL_STREAM) running.pump?.cancel();
    else if (kind === GRANT) {
      const key = transferKey(running.reply, id);
      this.#outgoing.grant(
        key,
        id,
        word,
        this.id,
        now,
        (chunk) => this.#publish(running.reply, chunk),
      );
    } else if (kind === CHUNK) {
      try {
        const whole = this.#incoming.chunk(transferKey(running.reply, id), word, bytes, now);
        const inner = whole === undefined ? undefined : readHeader(whole);
        if (inner !== undefined) this.#start(running, inner, whole!);
        else if (whole !== undefined) throw new ProtocolError("A call in chunks is damaged.");
      } catch (reason) {
        this.#fail(running, reason);
      }
    }
  }

  /** The caller is no longer interested: aborts the task, and answers no more. */
  #cancel(running: Running, reason: unknown): void {
    this.#running.delete(running.reply);
    this.#incoming.dropAll(`${running.reply} `);
    this.#outgoing.dropAll(`${running.reply} `);
    abort(running, reason);
    this.#failed++;
    if (this.#running.size === 0) this.#onIdle?.();
  }

  #dropStalled(): void {
    const now = this.#runtime.now();
    this.#outgoing.dropStalled(now - STALLED_MS);
    for (const key of this.#incoming.dropStalled(now - STALLED_MS)) {
      const running = this.#running.get(key.slice(0, key.lastIndexOf(" ")));
      if (running !== undefined) this.#cancel(running, undefined);
    }
    for (const running of this.#running.values()) {
      const isSilent = running.pump !== undefined && now - running.heardAt > SILENT_CALLER_MS;
      if (!isSilent) continue;
      const reason = `its caller has not asked for it for ${SILENT_CALLER_MS} ms`;
      const loss = { workerId: -1, machine: this.#options.name, exitCode: undefined, reason };
      const failure = new WorkerLostError(loss);
      const sender = this.id;
      this.#publish(running.reply, this.codec.encodeFailure(STREAM_FAILURE, failure, { sender }));
      this.#cancel(running, failure);
    }
  }
}

/** Ends the task, if it is one that can be ended. */
function abort({ pump, controller, result }: Running, reason: unknown): void {
  pump?.cancel();
  controller?.abort(reason);
  const { reject } = Object(result) as { reject?: unknown };
  if (typeof reject === "function") reject.call(result, reason);
}
