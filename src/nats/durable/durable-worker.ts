/**
 * The machine's side of durable work: takes calls from the work queue while it has room, runs them in the local pool, records
 * each result once, and then acknowledges. A call whose machine dies is delivered again.
 */
import { Date, Map, Promise } from "../../builtins.ts";
import { ResultStream } from "../../features/calls/streams/host/result-stream.ts";
import {
  InvalidArgumentError,
  PoolClosedError,
  UnknownTaskError,
  WorkerLostError,
} from "../../errors.ts";
import type { Runtime, Timer } from "../../runtimes/runtime.ts";
import { localCall, type LocalCalls } from "../machine/local-calls.ts";
import { lossOf } from "../loss.ts";
import { FAILURE, headerOf, RESULT } from "../wire/frames.ts";
import type { MessageCodec } from "../wire/message-codec.ts";
import type { CallQueue } from "./call-queue.ts";
import type { Delivery } from "./delivery.ts";
import {
  checkId,
  readCall,
  type RunSettings,
  type StoredCall,
  withSettings,
} from "./durable-call.ts";
import type { DurableStore } from "./store.ts";
import { codedError, isTemporary } from "./store-errors.ts";

/** Pause before a call that has failed, or has no task here, is delivered again: doubled each time. */
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 60_000;
const MAX_TASK_PAUSE_MS = 2000;
/**
 * Machines get calls in turn. So that a machine does not get each call that it lacks the task of, it leaves the next one to others,
 * and asks for one at a time for a while.
 */
const YIELD_MS = 20;
const CAUTIOUS_MS = 10_000;
/** A delay that is over when the call is delivered. */
const SHORTEST_MS = 0.001;
/** Pause after a request to the store has failed, as while a server is replaced. */
const ERROR_PAUSE_MS = 250;
const MAX_ERROR_PAUSE_MS = 2000;
/** Renewals within the time after which a call is given to another machine. */
const RENEWALS = 3;

/** A call that this machine has. */
interface Held {
  readonly delivery: Delivery;
  readonly done: Promise<void>;
}

export interface DurableWorkerOptions {
  readonly runtime: Runtime;
  readonly codec: MessageCodec;
  readonly calls: LocalCalls;
  readonly store: DurableStore;
  /** Maximum calls at a time. */
  readonly maxCalls: number;
  /** Time for which a call waits for a machine that has its task. */
  readonly taskWaitMs: number;
}

export class DurableWorker {
  readonly #options: DurableWorkerOptions;
  readonly #queue: CallQueue;
  /** By their keys. */
  readonly #held = new Map<string, Held>();
  #isStopped = false;
  #onRoom: (() => void) | undefined;
  /** When there was a call whose task is not here. */
  #missedAt = -Infinity;
  /** What the server has told about the queue. */
  #ackWaitMs = Infinity;
  #created: unknown;
  #renewing: Timer | undefined;
  /** The clock of the server less `runtime.now()`, at least. */
  #serverAheadMs = -Infinity;

  constructor(options: DurableWorkerOptions) {
    this.#options = options;
    this.#queue = options.store.openQueue(options.runtime, (delivery) => this.#hold(delivery));
    void this.#take();
  }

  /** Takes no more calls; resolves when those that it has have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#onRoom?.();
    await this.#queue.drain();
    await Promise.all(Array.from(this.#held.values(), ({ done }) => done));
    this.#renewing?.clear();
  }

  async #take(): Promise<void> {
    const { runtime, maxCalls } = this.#options;
    while (!this.#isStopped) {
      let mayHaveLeftovers = true; // calls that others have when a server is killed: looked for when the queue is empty
      try {
        await this.#prepare();
        while (!this.#isStopped) {
          const yieldsFor = this.#missedAt + YIELD_MS - runtime.now();
          if (yieldsFor > 0) await this.#pause(yieldsFor);
          const room = maxCalls - this.#held.size;
          if (room <= 0) await new Promise<void>((resolve) => this.#onRoom = resolve);
          else if (!await this.#queue.pull(this.#isCautious ? 1 : room) && mayHaveLeftovers) {
            mayHaveLeftovers = false;
            await this.#prepare();
          }
        }
      } catch {
        // The queue or its server is away; the calls wait in the stream.
        if (!this.#isStopped) await this.#pause(ERROR_PAUSE_MS);
      }
    }
  }

  /** Lately there was a call whose task is not here: others like it are left to machines that have theirs. */
  get #isCautious(): boolean {
    return this.#options.runtime.now() - this.#missedAt < CAUTIOUS_MS;
  }

  /** Creates what is missing, and renews calls as often as the queue demands, which another client may have set up. */
  async #prepare(): Promise<void> {
    const { store, runtime } = this.#options;
    const { ackWaitMs, created, doneUpTo } = await store.ensure();
    if (this.#isStopped) return;
    if (doneUpTo !== undefined) await store.dropCalls(doneUpTo); // they would keep their ids taken
    if (this.#created !== created && this.#created !== undefined) this.#queue.beginEpoch();
    this.#created = created;
    if (this.#ackWaitMs === ackWaitMs) return;
    this.#ackWaitMs = ackWaitMs;
    this.#renewing?.clear();
    this.#renewing = runtime.setInterval(() => {
      for (const { delivery } of this.#held.values()) delivery.renew();
    }, ackWaitMs / RENEWALS);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#options.runtime.setTimeout(resolve, ms));
  }

  #hold(delivery: Delivery): void {
    const { key } = delivery;
    if (this.#held.has(key)) {
      delivery.renew(); // the server was away for longer than it waits
      return;
    }
    // What cannot be recorded or returned is delivered again.
    const done = this.#handle(delivery).catch(() => {}).finally(() => {
      this.#held.delete(key);
      this.#onRoom?.();
    });
    this.#held.set(key, { delivery, done });
  }

  async #handle(delivery: Delivery): Promise<void> {
    let call: StoredCall;
    let id: string;
    try {
      id = checkId(delivery.id);
      call = readCall(delivery.data);
    } catch (error) {
      await this.#bury(delivery, error);
      return;
    }
    const { task, delayMs, retries } = call;
    if (delayMs > 0) {
      await this.#defer(delivery, id, call);
      return;
    }
    if (await this.#isDone(delivery, id)) return;
    const runs = retries + 1;
    if (delivery.count === runs + 1) {
      // The machine of the last run may be cut off from the server, and have the result.
      delivery.returnAfter(this.#ackWaitMs);
    } else if (delivery.count > runs) await this.#bury(delivery, lostError(runs));
    else if (!Object.hasOwn(this.#options.calls, task)) {
      this.#missedAt = this.#options.runtime.now();
      // Where it has a delay, deliveries are not counted.
      await this.#copy(delivery, id, { delayMs: SHORTEST_MS, retries }, "elsewhere");
    } else await this.#runOnce(delivery, id, call);
  }

  /** Whether an earlier run has recorded its result. */
  async #isDone(delivery: Delivery, id: string): Promise<boolean> {
    const { store } = this.#options;
    if (await this.#persist(() => store.readResult(id)) === undefined) return false;
    delivery.ack();
    return true;
  }

  async #runOnce(delivery: Delivery, id: string, call: StoredCall): Promise<void> {
    const { store, codec } = this.#options;
    const { task, retries } = call;
    const runs = delivery.count;
    let args: unknown[];
    try {
      args = codec.decode(call.args, headerOf(call.args, "The arguments of a durable call"));
    } catch (error) {
      await this.#bury(delivery, error);
      return;
    }
    let message: Uint8Array;
    try {
      message = codec.encode(RESULT, [], [await this.#run(task, args)], "result");
    } catch (error) {
      // This machine stops: the next one runs it. A copy, since this delivery counts as a run.
      if (this.#isStopped && error instanceof PoolClosedError) {
        await this.#copy(delivery, id, { delayMs: 0, retries: retries + 1 - runs }, "again");
      } else if (runs > retries) await this.#bury(delivery, error);
      else delivery.returnAfter(doubled(FIRST_PAUSE_MS, runs, MAX_PAUSE_MS));
      return;
    }
    const tooLarge = store.checkSize(message);
    if (tooLarge !== undefined) {
      await this.#bury(delivery, tooLarge); // it would be so after another run as well
      return;
    }
    try {
      await this.#persist(() => store.record(id, message));
    } catch (error) {
      await this.#bury(delivery, codedError("NATS refuses the result of the task", error));
      return;
    }
    delivery.ack();
  }

  /**
   * Returns a delayed call until its time has come and a machine that has its task gets it. Then a copy without the delay takes
   * its place: each delivery of that is a run, however many deliveries were lost before.
   */
  async #defer(delivery: Delivery, id: string, call: StoredCall): Promise<void> {
    const { calls, taskWaitMs } = this.#options;
    const { task, delayMs, retries } = call;
    const restMs = delivery.storedMs + delayMs - this.#serverNow(delivery.storedMs);
    const isKnown = Object.hasOwn(calls, task);
    if (!isKnown && restMs < -taskWaitMs) {
      await this.#bury(delivery, new UnknownTaskError(task, Object.keys(calls)));
    } else if (restMs > 0 || !isKnown) {
      const pauseMs = isKnown ? 0 : doubled(FIRST_PAUSE_MS, delivery.count, MAX_TASK_PAUSE_MS);
      delivery.returnAfter(Math.max(restMs, pauseMs));
    } else await this.#copy(delivery, id, { delayMs: 0, retries }, "due");
  }

  /** The server's clock is not behind this machine's, nor behind the latest time that it has told. */
  #serverNow(storedMs: number): number {
    const now = this.#options.runtime.now();
    this.#serverAheadMs = Math.max(this.#serverAheadMs, storedMs - now);
    return Math.max(Date.now(), now + this.#serverAheadMs);
  }

  /** Queues the call again, with these settings, in place of the message. */
  async #copy(delivery: Delivery, id: string, settings: RunSettings, why: string): Promise<void> {
    const message = withSettings(delivery.data, settings);
    // Two machines publish one copy.
    const name = `${why}.${delivery.key}`;
    await this.#persist(() => this.#options.store.requeue(id, message, name));
    delivery.ack();
  }

  async #run(task: string, args: readonly unknown[]): Promise<unknown> {
    const result = await localCall(this.#options.calls, task)(...args);
    if (!(result instanceof ResultStream)) return result;
    await result.return();
    throw new InvalidArgumentError(`"${task}" returns a stream, which cannot be recorded.`);
  }

  /** Repeats a request to the store until the server has answered. The call is renewed meanwhile. */
  async #persist<Result>(request: () => Promise<Result>): Promise<Result> {
    for (let failures = 1;; failures++) {
      try {
        return await request();
      } catch (error) {
        if (!isTemporary(error)) throw error;
        await this.#pause(doubled(ERROR_PAUSE_MS, failures, MAX_ERROR_PAUSE_MS));
      }
    }
  }

  /** The call has failed for good. */
  async #bury(delivery: Delivery, reason: unknown): Promise<void> {
    const { store, codec } = this.#options;
    const { id } = delivery;
    await this.#persist(() => store.bury(delivery.data, `dead-${delivery.key}`));
    if (id !== undefined) {
      const message = codec.encodeFailure(FAILURE, reason, {});
      const tooLarge = store.checkSize(message);
      const failure = tooLarge === undefined ? message : codec.encodeFailure(FAILURE, tooLarge, {});
      await this.#persist(() => store.record(id, failure));
    }
    delivery.terminate();
  }
}

const doubled = (firstMs: number, times: number, maxMs: number): number =>
  Math.min(maxMs, firstMs * 2 ** (times - 1));

function lostError(runs: number): WorkerLostError {
  const machines = runs === 1 ? "1 machine was" : `${runs} machines were`;
  return new WorkerLostError(lossOf(undefined, `${machines} lost while running it`));
}
