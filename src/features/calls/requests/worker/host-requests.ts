/**
 * Requests of tasks to the host: the worker's side. docs/internals/host-requests.md explains the protocol.
 *
 * A request is a record in the response ring, behind the responses. Its answer is a message; for a thread that waits for it, on
 * the payload port, where it can be taken without the event loop.
 */
import { Map, Promise } from "../../../../builtins.ts";
import { DeadlockError, InvalidArgumentError, PoolClosedError } from "../../../../errors.ts";
import { REQUEST } from "../../../../lane/frame.ts";
import { ANSWERS } from "../../../../lane/layout.ts";
import {
  type PackedValues,
  packReasonOf,
  packSnapshot,
  StandaloneValues,
  toSnapshot,
} from "../../../../lane/standalone-values.ts";
import {
  type AnswerMessage,
  type CallId,
  NO_CALL,
  packNumber,
  type RequestHeader,
  type RequestMessage,
  UNKNOWN_CALL,
} from "../messages.ts";
import { reasonOf } from "../../../../protocol/abort-reason.ts";
import { keyOf } from "../../../../protocol/call-key.ts";
import { runningCalls } from "../../../../worker/calls/running-calls.ts";
import type { TaskCall } from "../../../../worker/task.ts";
import type { WorkerCore } from "../../../../worker/worker-core.ts";

/** Time between two looks whether the host stops this worker: not every runtime can stop a thread that waits. */
const STOP_CHECK_MS = 50;

const NO_CALLER: CallId = [NO_CALL, 0];
const UNKNOWN_CALLER: CallId = [UNKNOWN_CALL, 0];

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  /** The call that waits. */
  readonly caller: CallId;
  stopFollowing: () => void;
}

const NOT_LOADED =
  "host.sync cannot be used while modules are loaded: use host.call there, or call it in a task.";

const ON_HOST =
  "This task runs on the thread of its host, in a pool without threads (threads: 0, or onUnavailable): it would wait for itself. Use call in place of sync.";

const NEEDS_MEMORY =
  "A thread that waits gets no messages in browsers and without shared memory: it would wait for ever. Use call in place of sync.";

export class HostRequests {
  readonly #core: WorkerCore;
  readonly #values: StandaloneValues;
  readonly #pending = new Map<number, Pending>();
  /** Requests of each call that wait for an answer. */
  readonly #waits = new Map<number, number>();
  #number = 0;
  /** Change of the number of waiting tasks that the loop does not know yet. */
  #change = 0;
  /** Calls are tracked; from the first one on. */
  #isTracking = false;
  #isTrackingAll = false;

  constructor(core: WorkerCore) {
    this.#core = core;
    this.#values = new StandaloneValues(core.codec);
    core.onOutside = () => this.#tell();
    core.part(runningCalls).onOver = ({ slot, generation }) => this.#forget(slot, generation);
  }

  /** Tasks call tasks: from now on it is known which calls requests belong to. */
  track(): void {
    if (this.#isTracking) return;
    this.#isTracking = true;
    const { loop } = this.#core;
    this.#isTrackingAll = loop === undefined;
    const running = this.#core.part(runningCalls);
    // Within the context of a call, which may replace the asynchronous context.
    if (loop === undefined) this.#core.onLoaded.push(() => this.#core.wraps.push(running));
    else loop.runner.wrapAll(running);
  }

  /** The tracked call that the running code belongs to, if it is not over. */
  get current(): TaskCall | undefined {
    const call = this.#current;
    return call?.isOver === false ? call : undefined;
  }

  get #current(): TaskCall | undefined {
    return this.#core.partIfMade(runningCalls)?.current;
  }

  /** Makes a request. The promise settles with its answer. `caller`: the call it belongs to, if the running code does not tell. */
  request(
    header: RequestHeader,
    args: readonly unknown[],
    signal?: AbortSignal,
    caller: CallId = this.#caller(),
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) throw reasonOf(signal);
      const number = this.#number++;
      const pending: Pending = { resolve, reject, caller, stopFollowing: ignore };
      this.#pending.set(number, pending);
      try {
        this.#send(number, caller, false, [...args, header], (error) => {
          this.#take(number)?.reject(error);
        });
      } catch (error) {
        this.#pending.delete(number);
        throw error;
      }
      this.#wait(caller, 1);
      if (signal !== undefined) pending.stopFollowing = this.#follow(signal, number);
    });
  }

  /** Makes a request and waits for the answer with this thread. */
  requestSync(
    header: RequestHeader,
    args: readonly unknown[],
    caller: CallId = this.#caller(),
  ): unknown {
    const { control, replies, loop, site, mayWait, endpoint } = this.#core;
    if (loop === undefined) throw new InvalidArgumentError(NOT_LOADED);
    if (site.isHost) throw new DeadlockError(ON_HOST);
    if (!mayWait) throw new DeadlockError(NEEDS_MEMORY);
    const port = endpoint.messages;
    let seen = Atomics.load(control, ANSWERS);
    const number = this.#number++;
    const isAnswer = (message: unknown): boolean => (message as AnswerMessage).request === number;
    this.#send(number, caller, true, [...args, header], (error) => {
      throw error;
    });
    while (replies.flushNow(0)) {
      const message = port.takeOther(isAnswer) as AnswerMessage | undefined;
      if (message !== undefined) {
        const value = this.#read(message);
        if (message.isThrown) throw value;
        return value;
      }
      if (replies.isStopped) break;
      // SYNC(answers): pairs with ThreadLane.postAnswer, which posts before it changes the word.
      Atomics.wait(control, ANSWERS, seen, STOP_CHECK_MS);
      seen = Atomics.load(control, ANSWERS);
    }
    throw new PoolClosedError("This worker is being stopped.");
  }

  onAnswer(message: AnswerMessage): void {
    const pending = this.#take(message.request);
    if (pending === undefined) return;
    let value: unknown;
    try {
      value = this.#read(message);
    } catch (error) {
      pending.reject(error);
      return;
    }
    if (message.isThrown) pending.reject(value);
    else pending.resolve(value);
  }

  /** A pending request, which is answered. */
  #take(number: number): Pending | undefined {
    const pending = this.#pending.get(number);
    if (pending === undefined) return undefined;
    this.#pending.delete(number);
    pending.stopFollowing();
    this.#wait(pending.caller, -1);
    return pending;
  }

  #read({ value }: AnswerMessage): unknown {
    return this.#values.reader.read(toSnapshot(value))[0];
  }

  #caller(): CallId {
    const { loop } = this.#core;
    if (loop === undefined) return NO_CALLER;
    const call = this.#current;
    if (call !== undefined) return call.isOver ? NO_CALLER : [call.slot, call.generation];
    return this.#isTrackingAll || loop.isIdle ? NO_CALLER : UNKNOWN_CALLER;
  }

  #send(
    number: number,
    [slot, generation]: CallId,
    isSync: boolean,
    values: readonly unknown[],
    onRefused: (error: unknown) => void,
  ): void {
    const { loop, replies, endpoint } = this.#core;
    // Without calls in flight the host reads no records of this worker.
    if (loop === undefined || loop.isIdle) {
      const { values: packed } = packSnapshot(this.#values.snapshots.capture(values));
      this.#notify({ heddle: "request", request: number, isSync, values: packed }, packed);
    } else {
      const snapshot = endpoint.snapshots.capture(values);
      const word = packNumber(number, isSync);
      replies.send({
        kind: REQUEST,
        slot,
        generation,
        word,
        snapshot,
        isOptional: true,
        onRefused,
      });
    }
  }

  /** Tells the host when the signal is aborted. Returns a function that ends that. */
  #follow(signal: AbortSignal, number: number): () => void {
    const onAbort = (): void => {
      const { values: reason } = packReasonOf(this.#values.snapshots, reasonOf(signal));
      this.#notify({ heddle: "requestAbort", request: number, reason }, reason);
    };
    signal.addEventListener("abort", onAbort);
    return () => signal.removeEventListener("abort", onAbort);
  }

  #notify(message: RequestMessage, { payload }: PackedValues): void {
    this.#core.notify(message, (payload?.attachments.length ?? 0) > 0);
  }

  /** One more request of a call waits, or one less. */
  #wait([slot, generation]: CallId, change: 1 | -1): void {
    if (slot === NO_CALL) return;
    if (slot === UNKNOWN_CALL) return this.#count(change);
    const key = keyOf(slot, generation);
    const before = this.#waits.get(key);
    if (before === undefined && change < 0) return; // the call is over
    const after = (before ?? 0) + change;
    if (after === 0) this.#waits.delete(key);
    else this.#waits.set(key, after);
    if (before === undefined || after === 0) this.#count(change);
  }

  #forget(slot: number, generation: number): void {
    if (this.#waits.delete(keyOf(slot, generation))) this.#count(-1);
  }

  /** Tells the loop soon: it may run other tasks then, so not on the stack of a task, nor in its asynchronous context. */
  #count(change: number): void {
    this.#change += change;
    this.#core.callOutside();
  }

  /** Tells the loop how many more tasks wait, or fewer: as many more do not count meanwhile. */
  #tell(): void {
    const core = this.#core;
    const { promise, resolve } = Promise.withResolvers<void>();
    core.callOutside = resolve;
    void promise.then(() => this.#tell()); // in the context of now: that of the worker's loop
    const change = this.#change;
    this.#change = 0;
    const { runner } = core.loop!;
    runner.respondLater(() => runner.paused += change);
  }
}

/** Those of a worker (`WorkerCore.part`). */
export function hostRequests(core: WorkerCore): HostRequests {
  return new HostRequests(core);
}

function ignore(): void {}
