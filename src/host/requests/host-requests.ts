/**
 * Requests of workers to the host: functions of the host, callbacks of calls, and nested calls. The host's side;
 * docs/internals/host-requests.md explains the protocol.
 *
 * Requests arrive among the responses of a lane, where nothing of the program may run. They are handled right after, in a
 * microtask, or by `takeAll` while the host blocks.
 */
import { Promise } from "../../builtins.ts";
import type { Codec } from "../../codec/codec.ts";
import type { AnyCallback } from "../../codec/support/callback.ts";
import { CallbackEndedError, CallEndedError, HeddleError, PoolClosedError } from "../../errors.ts";
import { RESULT_NAME } from "../../lane/snapshot.ts";
import {
  packReasonOf,
  packSnapshot,
  StandaloneValues,
  toSnapshot,
} from "../../lane/standalone-values.ts";
import { NO_CALL, type RequestHeader, type RequestMessage } from "../../protocol/host-requests.ts";
import { isThenable } from "../../streams/is-thenable.ts";
import { endStreams } from "../../streams/open-source.ts";
import { noCaller } from "../calls/caller-context.ts";
import type { PendingCall } from "../calls/in-flight.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { Lane } from "../lanes/lane.ts";
import type { Cancellation } from "../limits/cancellation.ts";
import { type BlockedHost, Callers } from "./callers.ts";
import { NestedCalls } from "./nested-calls.ts";
import { NestedRequests, type NestedRequestsOptions } from "./nested-requests.ts";
import { capturePassing } from "./passing-values.ts";
import type { HostRequest, TakenRequest } from "./request.ts";

export interface HostRequestsOptions extends Omit<NestedRequestsOptions, "nested"> {
  readonly codec: Codec;
  readonly dispatcher: Dispatcher;
  readonly cancellation: Cancellation;
  /** The function of this name for workers, or the error for a name that has none. */
  readonly findFunction: (name: string) => AnyCallback | HeddleError;
  /** Whether a worker takes calls, is starting, or may be started. */
  readonly hasWorker: () => boolean;
}

export class HostRequests {
  readonly #options: HostRequestsOptions;
  readonly #nested: NestedCalls;
  readonly #callers: Callers;
  readonly #nestedRequests: NestedRequests;
  readonly #values: StandaloneValues;
  /** To be done outside of the polls. */
  #due: (() => void)[] = [];
  /** Calls of functions that wait until the host's event loop runs. */
  #held: TakenRequest[] = [];
  #isScheduled = false;
  #isClosed = false;
  #blocked: BlockedHost | undefined;

  constructor(options: HostRequestsOptions) {
    const { codec, dispatcher, cancellation } = options;
    const { inFlight, submitter } = dispatcher;
    this.#options = options;
    this.#values = new StandaloneValues(codec);
    const soon = (f: () => void): void => this.#later(f);
    this.#nested = new NestedCalls({ submitter, cancellation, soon });
    this.#callers = new Callers(inFlight, this.#nested, options.nameOf);
    this.#nestedRequests = new NestedRequests({ ...options, nested: this.#nested });
  }

  /**
   * Runs `wait`, which blocks the host until `call` is settled and calls `takeAll` meanwhile. A call that no worker can begin is
   * rejected at once. `chain` names it in messages: "pool.sync.f()".
   */
  whileBlocked(call: PendingCall, chain: string, wait: () => void): void {
    const { hasWorker, cancellation, dispatcher: { lanes } } = this.#options;
    if (lanes.suspended > 0 && !hasWorker()) {
      cancellation.abort(call, this.#callers.stuckError(chain));
    }
    const outer = this.#blocked;
    this.#blocked = { call, chain };
    try {
      wait();
    } finally {
      this.#blocked = outer;
      if (outer === undefined && this.#held.length > 0) this.#later(() => this.#release());
    }
  }

  /**
   * A record has arrived. `failure`: its values cannot be read. Runs no code of the program. The call that makes it is looked up now:
   * its response may be next.
   */
  onRecord(
    lane: Lane,
    id: Pick<HostRequest, "slot" | "generation" | "number" | "isSync">,
    values: unknown[],
    failure?: unknown,
  ): void {
    const request = { lane, ...id };
    if (failure !== undefined) return this.#later(() => this.#answer(request, true, failure));
    const taken = this.#take({ ...request, header: values.pop() as RequestHeader, args: values });
    this.#later(() => this.#handle(taken));
  }

  #take(request: HostRequest): TakenRequest {
    const { lane, number, header: [target] } = request;
    const caller = this.#callers.of(request);
    const call = caller === "over" ? undefined : caller;
    const isNested = target === "task" && caller !== "over";
    const nested = isNested ? this.#nested.expect(call, lane, number) : undefined;
    return { ...request, callbacks: call?.callbacks, context: call?.context, nested };
  }

  onMessage(lane: Lane, message: RequestMessage): void {
    if (message.heddle === "request") {
      const values = this.#values.reader.read(toSnapshot(message.values));
      const number = message.request;
      const { isSync } = message;
      this.onRecord(lane, { slot: NO_CALL, generation: 0, number, isSync }, values);
    } else {
      const [reason] = this.#values.reader.read(toSnapshot(message.reason));
      this.#nested.abort(lane, message.request, reason);
    }
    this.takeAll();
  }

  /**
   * Handles what has arrived, now. A host that blocks calls this each time that it has taken responses: nested calls are made,
   * and functions of the host wait until it goes on.
   */
  takeAll(): void {
    // One at a time: a function of the host may block, and call this.
    for (let next = this.#due.shift(); next !== undefined; next = this.#due.shift()) next();
  }

  /** A worker has ended. */
  onEnded(workerId: number): void {
    this.#held = this.#held.filter(({ lane }) => lane.id !== workerId);
    this.#nested.onEnded(workerId, new CallEndedError());
  }

  /** The pool has ended: no more nested calls. Hooks of workers that close may call functions still. */
  close(): void {
    this.#isClosed = true;
  }

  #later(f: () => void): void {
    this.#due.push(f);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    noCaller.run(() => {
      this.#isScheduled = false;
      this.takeAll();
    });
  }

  #handle(request: TakenRequest): void {
    const { lane, isSync, header: [target], nested } = request;
    if (isSync) this.#options.dispatcher.suspend(lane);
    if (target !== "task") return this.#callFunction(request);
    if (nested === undefined) return this.#fail(request, new CallEndedError());
    const settle = (isThrown: boolean, value: unknown): void => {
      this.#nested.end(nested);
      this.#answer(request, isThrown, value);
    };
    if (this.#isClosed) return settle(true, new PoolClosedError());
    const isStuck = isSync && !this.#options.hasWorker();
    this.#nestedRequests.call(
      request,
      nested,
      this.#blocked !== undefined,
      isStuck ? this.#callers.noWorkerError(request) : undefined,
      (value) => settle(false, value),
      (reason) => settle(true, reason),
    );
  }

  #callFunction(request: TakenRequest): void {
    if (this.#blocked !== undefined) {
      const isCycle = this.#callers.isWithin(request, this.#blocked) ||
        (request.isSync && !this.#options.hasWorker());
      if (isCycle) this.#fail(request, this.#callers.cycleError(request, this.#blocked));
      else this.#held.push(request);
      return;
    }
    const f = this.#functionOf(request);
    if (f instanceof HeddleError) this.#fail(request, f);
    else (request.context ?? noCaller).run(() => this.#run(request, f));
  }

  #release(): void {
    while (this.#blocked === undefined && this.#held.length > 0) {
      this.#handle(this.#held.shift()!);
    }
  }

  #functionOf({ header: [target, which], callbacks }: TakenRequest): AnyCallback | HeddleError {
    if (target === "function") return this.#options.findFunction(String(which));
    return callbacks?.[which as number] ?? new CallbackEndedError();
  }

  #run(request: HostRequest, f: AnyCallback): void {
    let value: unknown;
    try {
      value = f(...request.args);
    } catch (error) {
      this.#answer(request, true, error);
      return;
    }
    if (!isThenable(value)) {
      this.#answer(request, false, value);
      return;
    }
    Promise.resolve(value).then(
      (result) => this.#answer(request, false, result),
      (reason) => this.#answer(request, true, reason),
    );
  }

  #fail(request: HostRequest, reason: unknown): void {
    this.#answer(request, true, reason);
  }

  #answer(
    { lane, number, isSync }: Pick<HostRequest, "lane" | "number" | "isSync">,
    isThrown: boolean,
    value: unknown,
  ): void {
    if (isSync) this.#options.dispatcher.resume(lane);
    const post = (packed: ReturnType<typeof packSnapshot>, isThrown: boolean): void => {
      const message = {
        heddle: "answer",
        request: number,
        isThrown,
        value: packed.values,
      } as const;
      if (isSync) lane.postAnswer(message, packed.transfer);
      else lane.postStream(message, packed.transfer);
    };
    try {
      if (isThrown) post(packReasonOf(this.#values.snapshots, value), true);
      else post(packSnapshot(capturePassing(this.#values.snapshots, [value], RESULT_NAME)), false);
    } catch (error) {
      endStreams([value]); // nobody reads it
      post(packReasonOf(this.#values.snapshots, error), true);
    }
  }
}
