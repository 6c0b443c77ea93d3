/**
 * The state of a scope: its members, their errors, and whether it takes further calls. docs/scopes.md has the rules.
 *
 * A member is a call, a joined set of calls or an inner scope. It stays one until nothing of it runs any more, on the host and
 * in workers. Leaving the scope waits until there is no member.
 */
import {
  AbortController,
  AggregateError,
  Promise,
  Set,
  WeakMap,
  WeakSet,
} from "../../../builtins.ts";
import { textOf } from "../../../codec/kinds/errors.ts";
import { ScopeCancelledError, ScopeClosedError, TimeoutError } from "../../../errors.ts";
import { reasonOf } from "../../../protocol/abort-reason.ts";
import type { LateRuns } from "../limits/host/late-runs.ts";
import type { Cancellation } from "../limits/host/cancellation.ts";
import { MAX_TIMER_MS, type Runtime, type Timer } from "../../../runtimes/runtime.ts";
import type { CallProxy } from "../../../api/calls/call-proxy.ts";
import type { SyncProxy } from "../sync/sync-proxy.ts";
import type { ResolvedScopeOptions } from "./scope-options.ts";
import type { Mapping } from "../map/host/map.ts";
import { watchHandling } from "./handled.ts";

/** The parts of a pool that scopes use. */
export interface ScopeTarget {
  readonly calls: CallProxy;
  readonly mapping: Mapping;
  /** Made when it is used. */
  readonly sync: () => SyncProxy;
  readonly cancellation: Pick<Cancellation, "abort">;
  readonly lateRuns: LateRuns;
  readonly runtime: Pick<
    Runtime,
    "now" | "setTimeout" | "setInterval" | "microtask" | "macrotask" | "isPromise"
  >;
}

export interface Member {
  /** Its outcome. */
  readonly promise: Promise<unknown>;
  /** A joiner has taken it: its error is the joiner's. */
  isJoined: boolean;
  /** The program handles its error. */
  readonly isHandled: boolean;
  /** Whether its error is only that it was cancelled. */
  readonly wasCancelled: boolean;
  /** Cancels what runs of it. */
  cancel(reason: unknown): void;
  /** The scope is being left: ends what would not end by itself. */
  leave(): void;
}

/** The error of a scope, and nothing if there is none. */
type Outcome = { readonly error: unknown } | undefined;

export class ScopeCore {
  readonly target: ScopeTarget;
  readonly options: ResolvedScopeOptions;
  /** The members that made the promises of the scope. */
  readonly #byPromise = new WeakMap<object, Member>();
  /** Notifies the outer scope, if there is one. */
  onLeft: ((outcome: Outcome) => void) | undefined;
  readonly #members = new Set<Member>();
  /** What calls rejected with because they were cancelled here: it may come back as the error of the body. */
  readonly #cancellations = new WeakSet<object>();
  readonly #errors: unknown[] = [];
  #hasFailedCall = false;
  #isCancelled = false;
  #isLeaving = false;
  /** Why further calls are refused. */
  #refusal: unknown;
  #controller: AbortController | undefined;
  readonly #outer: ScopeCore | undefined;
  /** When its own time limit ends. */
  #endMs = Infinity;
  #timer: Timer | undefined;
  #onSignal: (() => void) | undefined;
  #onIdle: (() => void) | undefined;
  #left: Promise<Outcome> | undefined;

  constructor(target: ScopeTarget, options: ResolvedScopeOptions, outer?: ScopeCore) {
    this.target = target;
    this.#outer = outer;
    this.options = options;
    const { timeoutMs, signal } = options;
    if (timeoutMs <= MAX_TIMER_MS) {
      this.#endMs = target.runtime.now() + timeoutMs;
      this.#timer = target.runtime.setTimeout(() => this.#expire(), timeoutMs);
      this.#timer.unref();
    }
    if (signal === undefined) return;
    this.#onSignal = () => this.#end(reasonOf(signal));
    if (signal.aborted) this.#onSignal();
    else signal.addEventListener("abort", this.#onSignal);
  }

  get hasErrors(): boolean {
    return this.#errors.length > 0;
  }

  /** Whether calls are refused, with `refusal`. */
  get isClosed(): boolean {
    return this.#isCancelled || this.#isLeaving;
  }

  get refusal(): unknown {
    return this.#refusal;
  }

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** Aborted when the scope is cancelled. Created when it is first asked for. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isCancelled) this.#controller.abort(this.#refusal);
    }
    return this.#controller.signal;
  }

  add(member: Member): void {
    this.#members.add(member);
  }

  /** The member that made this promise, or was made for it. */
  memberOf(promise: unknown): Member | undefined {
    return this.#byPromise.get(Object(promise));
  }

  /** Joiners take what the program gets of the member. */
  own(given: object, member: Member): void {
    this.#byPromise.set(given, member);
  }

  /** The program gets the promise of a member. What is attached to it later is the program's. */
  give(promise: Promise<unknown>, member: Member): void {
    this.own(promise, member);
    if (this.options.onError === "ignoreHandled") watchHandling(promise);
  }

  /** Nothing of the member runs any more. */
  remove(member: Member): void {
    this.#members.delete(member);
    if (this.#members.size === 0) this.#onIdle?.();
  }

  /** The member has rejected. Calls `onDecided` when it is known whose error that is. */
  onRejected(member: Member, error: unknown, onDecided: () => void): void {
    if (member.wasCancelled && typeof error === "object" && error !== null) {
      this.#cancellations.add(error);
    }
    if (member.wasCancelled || this.options.onError !== "ignoreHandled") {
      if (!member.wasCancelled && !member.isJoined) this.onFailed(error);
      onDecided();
      return;
    }
    // Handlers are attached in microtasks, those of a call that is refused at once after its rejection.
    this.target.runtime.macrotask(() => {
      if (!member.isJoined && !member.isHandled) this.onFailed(error);
      onDecided();
    });
  }

  /** A call has failed, or an inner scope that the program left open. */
  onFailed(error: unknown): void {
    this.#hasFailedCall = true;
    this.#fail(error, this.options.onError !== "collect");
  }

  /** The function of the scope has thrown. */
  onBodyFailed(error: unknown): void {
    const isKnown = this.#errors.includes(error) || this.#cancellations.has(Object(error)) ||
      (this.#isCancelled && error === this.#refusal);
    if (isKnown) this.cancel(becauseOf(error));
    else this.#fail(error, true);
  }

  /** Cancels all members, and refuses further calls. Later reasons change nothing. */
  cancel(reason: unknown): void {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    if (!this.#isLeaving) this.#refusal = reason;
    for (const member of this.#members) member.cancel(reason);
    this.#controller?.abort(reason); // last: runs listeners of the program
  }

  /** Refuses further calls. Resolves when nothing of the scope runs any more: to its error, if it has one. */
  leave(): Promise<Outcome> {
    return this.#left ??= this.#leave();
  }

  async #leave(): Promise<Outcome> {
    this.#isLeaving = true;
    this.#refusal = new ScopeClosedError();
    for (const member of this.#members) member.leave();
    if (this.#members.size > 0) {
      // Tasks that go on after their calls were settled do not keep the process running.
      const hold = this.target.runtime.setInterval(() => {}, MAX_TIMER_MS);
      await new Promise<void>((resolve) => this.#onIdle = resolve);
      hold.clear();
    }
    this.#timer?.clear();
    if (this.#onSignal !== undefined) {
      this.options.signal!.removeEventListener("abort", this.#onSignal);
    }
    const outcome = this.#outcome();
    this.onLeft?.(outcome);
    return outcome;
  }

  #outcome(): Outcome {
    const [first, ...others] = this.#errors;
    if (this.#errors.length === 0) return undefined;
    const isAlone = others.length === 0 &&
      (this.options.onError !== "collect" || !this.#hasFailedCall);
    if (isAlone) return { error: first };
    const count = others.length === 0 ? "1 error" : `${this.#errors.length} errors`;
    return { error: new AggregateError(this.#errors, `${count} in a scope: ${textOf(first)}`) };
  }

  #fail(error: unknown, isCancelling: boolean): void {
    this.#errors.push(error);
    if (isCancelling) this.cancel(becauseOf(error));
  }

  /** Time until the limit of this scope or of one around it, which ends it now if it is over: timers do not run while this thread blocks. */
  checkTime(): number {
    const outerMs = this.#outer?.checkTime() ?? Infinity;
    if (this.#endMs === Infinity) return outerMs;
    const ownMs = this.#endMs - this.target.runtime.now();
    if (ownMs <= 0) this.#expire();
    return Math.min(ownMs, outerMs);
  }

  #expire(): void {
    this.#end(new TimeoutError("scope", this.options.timeoutMs));
  }

  /** The time limit or the signal of the scope: calls reject with the same reason. */
  #end(reason: unknown): void {
    if (this.#isCancelled) return;
    this.#errors.push(reason);
    this.cancel(reason);
  }
}

/** The reason with which calls are cancelled after `error`. */
export function becauseOf(error: unknown): ScopeCancelledError {
  return new ScopeCancelledError("The call was cancelled after an error in its scope.", {
    cause: error,
  });
}
