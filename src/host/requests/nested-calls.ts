/**
 * Calls that tasks make of the tasks of their own pool, each with the call that makes it. If that rejects, by an abort, a time
 * limit or an error, the calls that it has made are aborted. If it resolves they go on.
 */
import { Map, Set } from "../../builtins.ts";
import type { Snapshot } from "../../lane/snapshot.ts";
import { UNKNOWN_CALL } from "../../protocol/host-requests.ts";
import type { CallSettings } from "../calls/call-settings.ts";
import type { Follow, PendingCall, Reject, Resolve } from "../calls/in-flight.ts";
import type { Submitter } from "../dispatch/submitter.ts";
import type { Cancellation } from "../limits/cancellation.ts";
import type { Lane } from "../lanes/lane.ts";

export interface NestedCallsOptions {
  readonly submitter: Submitter;
  readonly cancellation: Cancellation;
  /** Runs a function soon, without the host's event loop if that is blocked. */
  readonly soon: (f: () => void) => void;
}

/** A nested call in flight. */
export interface Nested extends Pick<NestedCall, "parent" | "lane" | "request" | "isSync"> {
  readonly call: PendingCall;
  /** Whether any call of its worker may have made it. */
  readonly isParentUnknown: boolean;
}

/** A call to make. */
export interface NestedCall {
  readonly task: number;
  readonly snapshot: Snapshot;
  readonly settings: CallSettings;
  /** Undefined: it belongs to no call. */
  readonly parent: PendingCall | undefined;
  /** The worker that makes it, and the number of its request. */
  readonly lane: Lane;
  readonly request: number;
  /** Whether the worker waits for it with its thread. */
  readonly isSync: boolean;
  /** As in its request. */
  readonly slot: number;
}

/** A function, since the compiler does not see that callbacks change a variable. */
function isOver(state: unknown): boolean {
  return state === "over";
}

export class NestedCalls {
  readonly #options: NestedCallsOptions;
  /** By the call itself: entries are removed when it is settled, before its slot is used again. */
  readonly #calls = new Map<PendingCall, Nested>();
  /** By parent: what it has made. */
  readonly #children = new Map<PendingCall, Set<Nested>>();

  constructor(options: NestedCallsOptions) {
    this.#options = options;
  }

  /** Calls in flight. */
  get size(): number {
    return this.#calls.size;
  }

  /** Who has made a nested call; undefined for any other. */
  of(call: PendingCall): Nested | undefined {
    return this.#calls.get(call);
  }

  /** Makes a call. Settles by `resolve` or `reject`. */
  make(nested: NestedCall, resolve: Resolve, reject: Reject): void {
    const { task, snapshot, settings, parent, lane, request, isSync, slot } = nested;
    /** Undefined: not made yet; "over": settled while it was made. */
    let state: Nested | undefined | "over";
    const end = (): void => {
      if (typeof state === "object") {
        this.#calls.delete(state.call);
        if (parent !== undefined) this.#children.get(parent)?.delete(state);
      }
      state = "over";
    };
    const call = this.#options.submitter.submitNested(task, snapshot, settings, (value) => {
      end();
      resolve(value);
    }, (reason) => {
      end();
      reject(reason);
    });
    if (isOver(state)) return;
    const isParentUnknown = parent === undefined && slot === UNKNOWN_CALL;
    state = { call, parent, lane, request, isSync, isParentUnknown };
    this.#calls.set(call, state);
    if (parent !== undefined) this.#childrenOf(parent).add(state);
  }

  /** The worker wants no more of its request. */
  abort(lane: Lane, request: number, reason: unknown): void {
    for (const nested of this.#calls.values()) {
      if (nested.lane === lane && nested.request === request) this.#abort(nested, reason);
    }
  }

  /** A worker has ended: nobody awaits what it has called. */
  onEnded(workerId: number, reason: unknown): void {
    // Iterating a Map or a Set skips entries that are deleted meanwhile.
    for (const nested of this.#calls.values()) {
      if (nested.lane.id === workerId) this.#abort(nested, reason);
    }
  }

  #abort(nested: Nested, reason: unknown): void {
    const { call } = nested;
    // Aborting one may run code that ends others.
    if (this.#calls.get(call) === nested) this.#options.cancellation.abort(call, reason);
  }

  /** What `parent` has made. From the first one on, its end is noticed. */
  #childrenOf(parent: PendingCall): Set<Nested> {
    const known = this.#children.get(parent);
    if (known !== undefined) return known;
    const children = new Set<Nested>();
    this.#children.set(parent, children);
    const abortAll = (reason: unknown): void => {
      if (children.size === 0) return;
      // Notifying tasks may run code of the program, and this call is being settled.
      this.#options.soon(() => {
        for (const child of children) this.#abort(child, reason);
      });
    };
    const { follow, settings: { timeoutValue } } = parent;
    const wrap: Follow = (resolve, reject) => [
      (value) => {
        this.#children.delete(parent);
        // The value comes in place of a TimeoutError.
        if (timeoutValue !== undefined && value === timeoutValue) abortAll(undefined);
        resolve(value);
      },
      (reason) => {
        this.#children.delete(parent);
        abortAll(reason);
        reject(reason);
      },
    ];
    [parent.resolve, parent.reject] = wrap(parent.resolve!, parent.reject!);
    // A stream replaces the callbacks of its call when it begins.
    parent.followBy((resolve, reject) => wrap(...follow?.(resolve, reject) ?? [resolve, reject]));
    return children;
  }
}
