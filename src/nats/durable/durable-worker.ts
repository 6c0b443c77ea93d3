/**
 * The machine's side of durable work: takes calls from the work queue while it has room, runs them in the local pool, records
 * each result once, and then acknowledges. A call whose machine dies is delivered again.
 */
import { Date, Promise, Set } from "../../builtins.ts";
import type { ConsumerMessages, JsMsg } from "@nats-io/jetstream";
import { ResultStream } from "../../host/streams/result-stream.ts";
import {
  InvalidArgumentError,
  PoolClosedError,
  ProtocolError,
  WorkerLostError,
} from "../../errors.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { localCall, type LocalCalls } from "../machine/local-calls.ts";
import { CALL, FAILURE, readHeader, RESULT } from "../wire/frames.ts";
import type { MessageCodec } from "../wire/message-codec.ts";
import type { DurableRequest } from "./durable-calls.ts";
import { checkId, CONSUMER, type DurableStore } from "./store.ts";

/** Maximum durable calls at a time. */
const MAX_CALLS = 32;
/** Time for which one pull waits for calls. */
const PULL_MS = 5000;
/** Pause before a call that has failed is delivered again: doubled each time. */
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 60_000;
const NANOS_PER_MS = 1_000_000;
/** Pause after a pull has failed, as while a server is replaced. */
const ERROR_PAUSE_MS = 250;

interface DurableCall {
  readonly task: string;
  readonly request: DurableRequest;
  readonly args: readonly unknown[];
}

export interface DurableWorkerOptions {
  readonly runtime: Runtime;
  readonly codec: MessageCodec;
  readonly calls: LocalCalls;
  readonly store: DurableStore;
  readonly ackWaitMs: number;
  readonly maxCalls: number;
  readonly machine: string;
}

export class DurableWorker {
  readonly #options: DurableWorkerOptions;
  readonly #running = new Set<Promise<void>>();
  #pull: ConsumerMessages | undefined;
  #isStopped = false;
  readonly #loop: Promise<void>;

  constructor(options: DurableWorkerOptions) {
    this.#options = options;
    this.#loop = this.#take();
  }

  /** Takes no more calls; resolves when those running have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#pull?.stop();
    await this.#loop;
    await Promise.all(this.#running);
  }

  async #take(): Promise<void> {
    const { store, runtime } = this.#options;
    const most = Math.min(MAX_CALLS, this.#options.maxCalls);
    while (!this.#isStopped) {
      try {
        const consumer = await store.client.consumers.get(store.stream, CONSUMER);
        while (!this.#isStopped) {
          if (this.#running.size >= most) await Promise.race(this.#running);
          const room = most - this.#running.size;
          this.#pull = await consumer.fetch({ max_messages: room, expires: PULL_MS });
          if (this.#isStopped) this.#pull.stop();
          for await (const msg of this.#pull) this.#start(msg);
        }
      } catch {
        // The consumer or its server is away; its calls wait in the stream.
        if (this.#isStopped) return;
        await new Promise<void>((resolve) => runtime.setTimeout(resolve, ERROR_PAUSE_MS));
        await store.ensureQueue().catch(() => {}); // it may have been deleted
      }
    }
  }

  #start(msg: JsMsg): void {
    // A server that is away while a result is recorded or acknowledged: the call is delivered again.
    const running = this.#handle(msg).catch(() => {}).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async #handle(msg: JsMsg): Promise<void> {
    const { runtime, store, ackWaitMs, codec, machine } = this.#options;
    let call: DurableCall;
    try {
      call = this.#decode(msg.data);
    } catch (error) {
      await this.#bury(msg, undefined, error);
      return;
    }
    if (call.request.delayMs > 0) {
      await this.#defer(msg, call);
      return;
    }
    const { id, retries } = call.request;
    if (await store.results.get(id) !== null) {
      msg.ack(); // an earlier run has recorded its result
      return;
    }
    const runs = msg.info.deliveryCount;
    if (runs > retries + 1) {
      const reason = `${runs - 1} machines were lost while they ran it`;
      const loss = { workerId: -1, machine, exitCode: undefined, reason };
      await this.#bury(msg, id, new WorkerLostError(loss));
      return;
    }
    const renewing = runtime.setInterval(() => msg.working(), ackWaitMs / 3);
    let message: Uint8Array;
    try {
      message = codec.encode(RESULT, [], [await this.#run(call)], "result");
    } catch (error) {
      // This machine stops: the next one runs it. A copy, since this delivery counts as a run.
      if (this.#isStopped && error instanceof PoolClosedError) {
        await this.#copy(msg, call, { retries: retries + 1 - runs }, "again");
      } else if (runs > retries) await this.#bury(msg, id, error);
      else msg.nak(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (runs - 1)));
      return;
    } finally {
      renewing.clear();
    }
    const tooLarge = store.checkSize(message);
    if (tooLarge !== undefined) {
      await this.#bury(msg, id, tooLarge); // it would be so after another run as well
      return;
    }
    await this.#record(id, message);
    msg.ack();
  }

  /**
   * Returns a delayed call until its time has come. Then a copy without the delay takes its place: each delivery of that
   * is a run, however many deliveries were lost before.
   */
  async #defer(msg: JsMsg, call: DurableCall): Promise<void> {
    const { request } = call;
    const dueAt = msg.info.timestampNanos / NANOS_PER_MS + request.delayMs;
    const restMs = Math.min(request.delayMs, dueAt - Date.now());
    if (restMs > 0) {
      msg.nak(Math.ceil(restMs));
      return;
    }
    await this.#copy(msg, call, { delayMs: 0 }, "due");
  }

  /** Queues the call again, with these settings, in place of the message. */
  async #copy(
    msg: JsMsg,
    { task, request, args }: DurableCall,
    changed: Partial<DurableRequest>,
    why: string,
  ): Promise<void> {
    const { codec, store } = this.#options;
    const message = codec.encode(CALL, [task, { ...request, ...changed }], args, "args");
    // Two machines publish one copy. No call has an id with a dot.
    await store.client.publish(store.subject, message, { msgID: `${why}.${msg.seq}` });
    msg.ack();
  }

  #decode(bytes: Uint8Array): DurableCall {
    const header = readHeader(bytes);
    if (header?.kind !== CALL) throw new ProtocolError("A durable call is not in heddle's format.");
    const [task, request, ...args] = this.#options.codec.decode(bytes, header);
    const { id, delayMs, retries } = Object(request) as Record<string, unknown>;
    if (typeof task !== "string" || typeof delayMs !== "number" || typeof retries !== "number") {
      throw new ProtocolError("A durable call without a task or its settings.");
    }
    return { task, request: { id: checkId(id), delayMs, retries }, args };
  }

  async #run({ task, args }: DurableCall): Promise<unknown> {
    const result = await localCall(this.#options.calls, task)(...args);
    if (!(result instanceof ResultStream)) return result;
    await result.return();
    throw new InvalidArgumentError(`"${task}" returns a stream, which cannot be recorded.`);
  }

  /** Records the result of a call, unless another run has. */
  async #record(id: string, message: Uint8Array): Promise<void> {
    const { results } = this.#options.store;
    try {
      await results.create(id, message);
    } catch (error) {
      if (await results.get(id) === null) throw error;
    }
  }

  /** The call has failed for good. */
  async #bury(msg: JsMsg, id: string | undefined, reason: unknown): Promise<void> {
    const { store, codec } = this.#options;
    await store.client.publish(store.deadSubject, msg.data, { msgID: `dead-${msg.seq}` });
    if (id !== undefined) {
      const message = codec.encodeFailure(FAILURE, reason, {});
      const tooLarge = store.checkSize(message);
      await this.#record(
        id,
        tooLarge === undefined ? message : codec.encodeFailure(FAILURE, tooLarge, {}),
      );
    }
    msg.term(); // servers before 2.10 ignore one with a reason, and deliver the call again
  }
}
