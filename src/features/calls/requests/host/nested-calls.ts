/**
 * Calls that tasks make of the tasks of their own pool, each with the call that makes it. If that rejects, by an abort, a time
 * limit or an error, the calls that it has made are aborted. If it resolves they go on.
 */
import { Map, Set } from "../../../../builtins.ts";
import type { Snapshot } from "../../../../lane/snapshot.ts";
import { UNKNOWN_CALL } from "../messages.ts";
import type { CallSettings } from "../../../../host/calls/call-settings.ts";
import type { Follow } from "../../../../host/calls/call-extra.ts";
import type { PendingCall, Reject, Resolve } from "../../../../host/calls/in-flight.ts";
import type { Submitter } from "../../../../host/dispatch/submitter.ts";
import type { Cancellation } from "../../limits/host/cancellation.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";
import { CallerPart, callerPartOf } from "./caller-part.ts";
import type { HostRequest, Nested } from "./request.ts";

export class NestedCalls {
  readonly #submitter: Submitter;
  readonly #cancellation: Cancellation;
  readonly #soon: (f: () => void) => void;
  readonly #all = new Set<Nested>();
  /** By the call itself: entries are removed when it is settled, before its slot is used again. */
  readonly #calls = new Map<PendingCall, Nested>();
  /** Of each worker the last request for a nested call; and aborts that have overtaken their requests, by number. */
  readonly #lastRequest = new Map<Lane, number>();
  readonly #early = new Map<Lane, Map<number, unknown>>();
  /** By parent: what it has asked for. */
  readonly #children = new Map<PendingCall, Set<Nested>>();

  /** `soon` runs a function soon, without the host's event loop if that is blocked. */
  constructor(submitter: Submitter, cancellation: Cancellation, soon: (f: () => void) => void) {
    this.#submitter = submitter;
    this.#cancellation = cancellation;
    this.#soon = soon;
    cancellation.onGivenUp = (call, reason) => this.#abortChildren(call, reason);
  }

  /** Who has made a nested call; undefined for any other. */
  of(call: PendingCall): Nested | undefined {
    return this.#calls.get(call);
  }

  /** A request has arrived; `parent` is in flight. Runs no code of the program. `end` must follow. */
  expect(
    parent: PendingCall | undefined,
    { lane, number, isSync, slot }: Pick<HostRequest, "lane" | "number" | "isSync" | "slot">,
  ): Nested {
    const nested: Nested = {
      lane,
      request: number,
      isSync,
      parent,
      isParentUnknown: parent === undefined && slot === UNKNOWN_CALL,
      priority: parent?.settings.priority ?? 0,
      context: parent?.extra?.find(CallerPart)?.context,
      isDetached: false,
      call: undefined,
      refusal: undefined,
      isOver: false,
    };
    this.#all.add(nested);
    if (parent !== undefined) this.#childrenOf(parent).add(nested);
    this.#lastRequest.set(lane, number);
    const early = this.#early.get(lane);
    if (early !== undefined) {
      if (early.has(number)) nested.refusal = { reason: early.get(number) };
      // Requests arrive in order.
      for (const other of early.keys()) if (other <= number) early.delete(other);
      if (early.size === 0) this.#early.delete(lane);
    }
    return nested;
  }

  /** Makes the call. Settles by `resolve` or `reject`, which must call `end`. */
  make(
    nested: Nested,
    task: number,
    snapshot: Snapshot,
    settings: CallSettings,
    resolve: Resolve,
    reject: Reject,
  ): void {
    const { refusal } = nested;
    if (refusal !== undefined) {
      snapshot.departures?.forEach((departure) => departure.end());
      return reject(refusal.reason);
    }
    const call = this.#submitter.submitNested(task, snapshot, settings, resolve, reject);
    if (nested.isOver) return; // settled while it was made
    callerPartOf(call).context = nested.context;
    nested.call = call;
    this.#calls.set(call, nested);
  }

  /** It is settled, or refused. */
  end(nested: Nested): void {
    const { call, parent } = nested;
    nested.isOver = true;
    this.#all.delete(nested);
    if (call !== undefined) this.#calls.delete(call);
    if (parent !== undefined) this.#children.get(parent)?.delete(nested);
  }

  /** The worker wants no more of its request, which may not have arrived: it may wait for room in the ring. */
  abort(lane: Lane, request: number, reason: unknown): void {
    if (request > (this.#lastRequest.get(lane) ?? -1)) {
      const early = this.#early.get(lane) ?? new Map<number, unknown>();
      this.#early.set(lane, early.set(request, reason));
      return;
    }
    for (const nested of this.#all) {
      if (nested.lane === lane && nested.request === request) this.#abort(nested, reason);
    }
  }

  /** A worker has ended: nobody awaits what it has called. Calls whose parent has returned go on. */
  onEnded(workerId: number, reason: unknown): void {
    for (const lane of this.#lastRequest.keys()) {
      if (lane.id === workerId) this.#lastRequest.delete(lane);
    }
    for (const lane of this.#early.keys()) if (lane.id === workerId) this.#early.delete(lane);
    // Iterating a Map or a Set skips entries that are deleted meanwhile.
    for (const nested of this.#all) {
      if (nested.lane.id === workerId && !nested.isDetached) this.#abort(nested, reason);
    }
  }

  #abort(nested: Nested, reason: unknown): void {
    const { call } = nested;
    nested.refusal ??= { reason };
    // Aborting one may run code that ends others.
    if (call !== undefined && !nested.isOver) this.#cancellation.abort(call, reason);
  }

  /** What `parent` has asked for. From the first one on, its end is noticed. */
  #childrenOf(parent: PendingCall): Set<Nested> {
    const known = this.#children.get(parent);
    if (known !== undefined) return known;
    const children = new Set<Nested>();
    this.#children.set(parent, children);
    const follow = parent.extra?.follow;
    const wrap: Follow = (resolve, reject) => [
      (value) => {
        this.#leaveChildren(parent, true);
        resolve(value);
      },
      (reason) => {
        this.#abortChildren(parent, reason);
        reject(reason);
      },
    ];
    [parent.resolve, parent.reject] = wrap(parent.resolve!, parent.reject!);
    // A stream replaces the callbacks of its call when it begins.
    parent.followBy((resolve, reject) => wrap(...follow?.(resolve, reject) ?? [resolve, reject]));
    return children;
  }

  /** The parent is over, and its slot may be used again. Returns its children. */
  #leaveChildren(parent: PendingCall, isDetached: boolean): Set<Nested> | undefined {
    const children = this.#children.get(parent);
    if (children === undefined) return undefined;
    this.#children.delete(parent);
    for (const child of children) {
      child.parent = undefined;
      child.isDetached = isDetached;
    }
    return children;
  }

  #abortChildren(parent: PendingCall, reason: unknown): void {
    const children = this.#leaveChildren(parent, false);
    if (children === undefined || children.size === 0) return;
    // Notifying tasks may run code of the program, and this call is being settled.
    this.#soon(() => {
      for (const child of children) if (!child.isOver) this.#abort(child, reason);
    });
  }
}
