/**
 * Requests of workers to the host: functions of the host, callbacks of calls, and nested calls. The host's side;
 * docs/internals/host-requests.md explains the protocol.
 *
 * Requests arrive among the responses of a lane, where nothing of the program may run. They are handled right after, in a
 * microtask, or by `takeAll` while the host blocks.
 */
import { Map, Promise, Set } from "../../../../builtins.ts";
import type { PoolParts } from "../../../../api/pool/parts.ts";
import type { AnyCallback } from "../callback-value.ts";
import type { SentReferences } from "../references.ts";
import {
  CallbackEndedError,
  CallEndedError,
  HeddleError,
  PoolClosedError,
  ProtocolError,
  UnknownFunctionError,
} from "../../../../errors.ts";
import { DESCRIPTOR_WORD, GENERATION_WORD, SLOT_WORD, TASK_WORD } from "../../../../lane/frame.ts";
import { RESULT_NAME } from "../../../../lane/snapshot.ts";
import {
  type Packed,
  packReasonOf,
  packSnapshot,
  StandaloneValues,
  toSnapshot,
} from "../../../../lane/standalone-values.ts";
import { NO_CALL, type RequestHeader, type RequestMessage, unpackNumber } from "../messages.ts";
import type { Departure } from "../../../../realm/handles.ts";
import { isThenable } from "../../../../protocol/is-thenable.ts";
import { dropArguments } from "../../../../host/calls/feature.ts";
import { noCaller } from "../../../../host/calls/caller-context.ts";
import { CallerPart } from "./caller-part.ts";
import { Departures } from "../../../../host/calls/departures.ts";
import { type PendingCall, QUEUED_ON_HOST } from "../../../../host/calls/in-flight.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";
import { didYouMean } from "../../../../option-checks.ts";
import { type Cancellation, createCancellation } from "../../limits/host/cancellation.ts";
import { type BlockedHost, Callers, MAYBE, NOT, SURELY } from "./callers.ts";
import { NestedCalls } from "./nested-calls.ts";
import { NestedRequests } from "./nested-requests.ts";
import { capturePassing } from "./passing-values.ts";
import { callObject, laterCallOf, listenerOf, type Settle } from "./reference-calls.ts";
import type { HostRequest, TakenRequest } from "./request.ts";

/** How often a host that blocks checks, without any progress, what may wait for it, until it takes that for a deadlock. */
const MAX_IDLE_CHECKS = 500;
/** The same for a request of the call that the host waits for: the task may not await it, and end first. */
const MAX_UNAWAITED_CHECKS = 25;
/** The same for a worker that starts: its pool can go on after that. */
const MAX_START_CHECKS = 150;
/** About the time between two of these checks (`BlockingWait`). */
const CHECK_MS = 10;

/** A call of a function, until it is answered. */
interface OpenRequest extends TakenRequest {
  /** Whether it waits until the host's event loop runs. */
  isHeld: boolean;
  /** Checks in a row in which its worker has done nothing, and the host may have waited for it. */
  idleChecks: number;
}

export function createRequests(host: PoolParts): HostRequests {
  return new HostRequests(host);
}

export class HostRequests {
  readonly #host: PoolParts;
  readonly #cancellation: Cancellation;
  readonly #nested: NestedCalls;
  readonly #callers: Callers;
  readonly #nestedRequests: NestedRequests;
  readonly #values: StandaloneValues;
  readonly references: SentReferences = new Map();
  /** To be done outside of the polls. */
  #due: (() => void)[] = [];
  /** What answers have carried, by worker. */
  readonly #departures = new Map<number, Departures>();
  /** Calls of functions: those that run, and those that are held until the host's event loop runs. */
  readonly #open = new Set<OpenRequest>();
  #hasHeld = false;
  #isScheduled = false;
  #blocked: BlockedHost | undefined;

  constructor(host: PoolParts) {
    const { codec, dispatcher: { submitter, waiting } } = host;
    this.#host = host;
    this.#cancellation = host.part(createCancellation);
    this.#values = new StandaloneValues(codec);
    this.#nested = new NestedCalls(submitter, this.#cancellation, (f) => this.#later(f));
    this.#callers = new Callers(host, this.#nested);
    this.#nestedRequests = new NestedRequests(host, this.#nested);
    waiting.hasWorker = () => host.hasWorker;
  }

  /**
   * Runs `wait`, which blocks the host until `call` is settled (`isOver`), and meanwhile calls `takeAll` and `check`. A call that no
   * worker can begin is rejected at once. `chain` names it in messages: "pool.sync.f()".
   */
  whileBlocked(call: PendingCall, chain: string, isOver: () => boolean, wait: () => void): void {
    const { lanes } = this.#host.dispatcher;
    const outer = this.#blocked;
    this.#blocked = { call, chain, isOver, outer };
    if (lanes.suspended > 0) {
      const waits = this.#findAwaited();
      if (waits !== undefined || !this.#host.hasWorker) {
        this.#cancellation.abort(call, this.#callers.stuckError(chain, waits));
      }
    }
    if (this.#open.size > 0) this.#letBegin();
    try {
      wait();
    } finally {
      this.#blocked = outer;
      if (outer === undefined && this.#hasHeld) this.#later(() => this.#release());
    }
  }

  /** A host that blocks calls this every few milliseconds: looks again at what waits for it. */
  check(): void {
    const blocked = this.#blocked;
    if (blocked === undefined || this.#open.size === 0) return;
    const { lanes } = this.#host.dispatcher;
    for (const request of this.#open) {
      if (!request.isHeld) continue;
      if (lanes.all.includes(request.lane)) this.#checkHeld(request, blocked);
      else this.#checkStart(request, blocked);
    }
    this.#letBegin();
  }

  /** Reads and releases a record. Runs no code of the program. */
  read(lane: Lane, index: number): void {
    const { endpoint } = lane;
    const { i32 } = endpoint.rx.memory;
    const word = index >> 2;
    const id = {
      slot: i32[word + SLOT_WORD]!,
      generation: i32[word + GENERATION_WORD]!,
      ...unpackNumber(i32[word + TASK_WORD]!),
    };
    endpoint.decoder.declared = undefined;
    let values: unknown[] = [];
    let failure: unknown;
    try {
      values = endpoint.readValues(index, i32[word + DESCRIPTOR_WORD]!);
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      failure = error;
    }
    if (endpoint.rx.release()) lane.wakeForSpace();
    this.onRecord(lane, id, values, failure);
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
    const { header: [target] } = request;
    const caller = this.#callers.of(request);
    const call = caller === "over" ? undefined : caller;
    const extra = call?.extra;
    if (extra !== undefined) {
      extra.isHeard = true;
      extra.requests++;
    }
    const isNested = target === "task" && caller !== "over";
    const nested = isNested ? this.#nested.expect(call, request) : undefined;
    const { callbacks, context } = extra?.find(CallerPart) ?? {};
    return { ...request, extra, callbacks, context, nested };
  }

  onMessage(lane: Lane, message: RequestMessage): void {
    if (message.heddle === "request") {
      const values = this.#values.reader.read(toSnapshot(message.values));
      const number = message.request;
      const { isSync } = message;
      this.onRecord(lane, { slot: NO_CALL, generation: 0, number, isSync }, values);
    } else {
      this.#host.takeResponses(); // its request among them
      this.takeAll();
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

  /** The host blocks, and has taken responses perhaps. `isTick`: some time has passed. */
  onBlocked(isTick: boolean): boolean {
    this.takeAll();
    if (isTick) this.check();
    return false;
  }

  /** A worker has ended. */
  onWorkerExit({ workerId }: { readonly workerId: number }): void {
    for (const request of this.#open) if (request.lane.id === workerId) this.#open.delete(request);
    this.#nested.onEnded(workerId, new CallEndedError());
    this.#departures.get(workerId)?.end();
    this.#departures.delete(workerId);
  }

  onPoolEnd(): void {
    for (const [reference] of this.references.values()) reference.leave(this.references);
    this.references.clear();
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
    if (isSync) this.#host.dispatcher.phases.pause(lane);
    if (target === "object") {
      const settle: Settle = (isThrown, value) => this.#answer(request, isThrown, value, true);
      if (this.#host.isOver) return settle(true, new PoolClosedError());
      if (callObject(this.references, request, settle)) return;
    }
    if (target !== "task") return this.#callFunction(request); // or an object that is not there yet
    if (nested === undefined) return this.#fail(request, new CallEndedError());
    const settle = (isThrown: boolean, value: unknown): void => {
      this.#nested.end(nested);
      this.#answer(request, isThrown, value, true);
    };
    if (this.#host.isOver) return settle(true, new PoolClosedError());
    const isStuck = isSync && !this.#host.hasWorker;
    this.#nestedRequests.call(
      request,
      nested,
      this.#blocked !== undefined,
      isStuck ? this.#callers.noWorkerError(request) : undefined,
      (value) => settle(false, value),
      (reason) => settle(true, reason),
    );
  }

  #callFunction(given: TakenRequest): void {
    const request: OpenRequest = { ...given, isHeld: false, idleChecks: 0 };
    this.#open.add(request);
    const blocked = this.#blocked;
    if (blocked === undefined) return this.#begin(request);
    const isStuck = request.isSync && !this.#host.hasWorker;
    const isAwaited = request.isSync && this.#callers.isAwaited(request, blocked) === SURELY;
    if (isStuck || isAwaited) {
      this.#fail(request, this.#callers.cycleError(request, blocked));
      return;
    }
    request.isHeld = this.#hasHeld = true;
    this.#letBegin();
  }

  #begin(request: OpenRequest): void {
    const f = this.#functionOf(request);
    if (f instanceof HeddleError) this.#fail(request, f);
    else (request.context ?? noCaller).run(() => this.#run(request, f));
  }

  #release(): void {
    this.#hasHeld = false;
    for (const request of this.#open) {
      if (!request.isHeld) continue;
      if (this.#blocked !== undefined) { // one of these functions has blocked
        this.#hasHeld = true;
        return;
      }
      request.isHeld = false;
      this.#begin(request);
    }
  }

  /** A request that is held may turn out to be one that the host waits for, and may be one for a long time. */
  #checkHeld(request: OpenRequest, blocked: BlockedHost): void {
    const certainty = this.#callers.isAwaited(request, blocked);
    // Its worker runs something.
    const { lane } = request;
    const isBusy = lane.isAwake && lane.phase !== "suspended";
    const checks = certainty === NOT || isBusy ? 0 : request.idleChecks + 1;
    request.idleChecks = checks;
    if (certainty === SURELY && (request.isSync || checks >= MAX_UNAWAITED_CHECKS)) {
      this.#fail(request, this.#callers.cycleError(request, blocked));
    } else if (certainty === MAYBE && checks >= MAX_IDLE_CHECKS) {
      const waitedMs = MAX_IDLE_CHECKS * CHECK_MS;
      this.#fail(request, this.#callers.unsureError(request, blocked, waitedMs));
    }
  }

  /** The call of a host that blocks may begin where calls wait for the host: they do not count for the limits of workers. */
  #letBegin(): void {
    const { dispatcher: { lanes, waiting } } = this.#host;
    for (let at = this.#blocked; at !== undefined; at = at.outer) {
      if (at.isOver() || at.call.lane !== QUEUED_ON_HOST) continue;
      const asking = lanes.open.filter((lane) => this.#asks(lane));
      if (asking.length > 0) waiting.sendBeyondLimits(at.call, asking);
    }
  }

  /** A worker that starts has made a request that is held. It may be the reason why no worker becomes ready. */
  #checkStart(request: OpenRequest, { call, chain }: BlockedHost): void {
    const { lanes } = this.#host.dispatcher;
    const isAwaited = lanes.all.length === 0 && call.lane === QUEUED_ON_HOST;
    request.idleChecks = isAwaited ? request.idleChecks + 1 : 0;
    if (request.idleChecks < MAX_START_CHECKS) return;
    this.#cancellation.abort(call, this.#callers.loadingError(chain, request));
  }

  #asks(lane: Lane): boolean {
    for (const request of this.#open) if (request.lane === lane) return true;
    return false;
  }

  /** A request for which a worker waits with its thread, while the host waits for that worker. */
  #findAwaited(): HostRequest | undefined {
    for (const request of this.#open) {
      if (!request.isSync || this.#blocked === undefined) continue;
      if (this.#callers.isAwaited(request, this.#blocked) === SURELY) return request;
    }
    return undefined;
  }

  #functionOf({ header: [target, which], callbacks }: TakenRequest): AnyCallback | HeddleError {
    if (target === "callback") {
      return callbacks?.functions[which as number] ?? new CallbackEndedError();
    }
    if (target === "listener") return listenerOf(this.references, which as number);
    if (target === "object") return laterCallOf(this.references, which as number);
    const functions = this.#host.spec.options.hostFunctions ?? {};
    const name = String(which);
    const f = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (typeof f === "function") return f as AnyCallback;
    const known = Object.keys(functions).filter((key) => typeof functions[key] === "function");
    return new UnknownFunctionError(name, known, didYouMean(name, known));
  }

  #run(request: OpenRequest, f: AnyCallback): void {
    let value: unknown;
    let promise: Promise<unknown> | undefined;
    try {
      value = f(...request.args);
      if (isThenable(value)) promise = Promise.resolve(value);
    } catch (error) {
      this.#fail(request, error);
      return;
    }
    if (promise === undefined) this.#end(request, false, value);
    else {
      promise.then(
        (result) => this.#end(request, false, result),
        (reason) => this.#end(request, true, reason),
      );
    }
  }

  #fail(request: HostRequest, reason: unknown): void {
    this.#end(request, true, reason);
  }

  #end(request: HostRequest, isThrown: boolean, value: unknown): void {
    this.#open.delete(request as OpenRequest);
    this.#answer(request, isThrown, value);
  }

  /** `passes`: another worker has sent the value. */
  #answer(
    { lane, number, isSync, extra }:
      & Pick<HostRequest, "lane" | "number" | "isSync">
      & Partial<Pick<TakenRequest, "extra">>,
    isThrown: boolean,
    value: unknown,
    passes = false,
  ): void {
    if (isSync) this.#host.dispatcher.phases.resume(lane);
    if (extra !== undefined) {
      extra.requests--;
      extra.isHeard = true;
    }
    const post = (packed: Packed, isThrown: boolean): boolean => {
      const message = {
        heddle: "answer",
        request: number,
        isThrown,
        value: packed.values,
      } as const;
      if (isSync) return lane.postAnswer(message, packed.transfer);
      return lane.postStream(message, packed.transfer);
    };
    try {
      if (isThrown) post(packReasonOf(this.#values.snapshots, value), true);
      else {
        const snapshot = capturePassing(this.#values.snapshots, [value], RESULT_NAME);
        const { departures } = snapshot;
        if (passes) departures?.forEach((departure) => departure.closeOrigin());
        let isPosted = false;
        try {
          isPosted = post(packSnapshot(snapshot), false);
        } finally {
          if (departures !== undefined) this.#carry(lane, departures, isPosted);
        }
      }
    } catch (error) {
      dropArguments([value]); // nobody reads it
      post(packReasonOf(this.#values.snapshots, error), true);
    }
  }

  /** Parts of an answer that count as being on their way: until they have arrived, or the worker has ended. */
  #carry({ id }: Lane, departures: readonly Departure[], isPosted: boolean): void {
    const all = isPosted ? this.#departures.get(id) ?? new Departures() : new Departures();
    all.carry(departures);
    if (isPosted) this.#departures.set(id, all);
    else all.end();
  }
}
