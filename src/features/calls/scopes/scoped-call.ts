/** A call of a scope, from the moment when it is made until its task has ended in its worker. */
import { Set } from "../../../builtins.ts";
import { InvalidArgumentError } from "../../../errors.ts";
import type { RunWatch } from "../../../host/calls/call-settings.ts";
import type { PendingCall } from "../../../host/calls/in-flight.ts";
import { isRead, ResultStream } from "../streams/host/result-stream.ts";
import type { StreamSink } from "../streams/host/stream-calls.ts";
import { isHandled } from "./handled.ts";
import type { Member, ScopeCore } from "./scope-core.ts";

export class ScopedCall implements Member, RunWatch {
  readonly killAfterMs: number;
  isJoined = false;
  wasCancelled = false;
  promise!: Promise<unknown>;
  readonly #core: ScopeCore;
  /** What is in flight: at most one, unless the pool makes calls of its own for it. */
  readonly #calls = new Set<PendingCall>();
  /** Runs of tasks whose calls are settled. */
  #lateRuns = 0;
  #isSettled = false;
  /** Its result is a stream, which has begun to arrive. */
  #isStream = false;
  #reason: { readonly value: unknown } | undefined;
  /** What the call returned if that is a stream. */
  #stream: ResultStream<unknown, unknown> | undefined;

  constructor(core: ScopeCore) {
    this.#core = core;
    this.killAfterMs = core.options.killAfterMs;
  }

  /** Makes the call. Returns what that returns: a promise, a stream, or a promise that can be read as one. */
  start(make: (run: RunWatch) => unknown): unknown {
    const core = this.#core;
    core.add(this);
    let result: unknown;
    try {
      result = make(this);
    } catch (error) {
      core.remove(this);
      throw error;
    }
    if (result instanceof ResultStream) this.#followStream(result);
    else {
      this.promise = result as Promise<unknown>;
      this.promise.then((value) => this.#onResolved(value), (error) => this.#onRejected(error));
      core.give(this.promise, this);
    }
    return result;
  }

  /**
   * Makes a blocking call. The program handles its error, as it is thrown. A scope that was cancelled meanwhile, by its time limit
   * or a function of the host, tells why.
   */
  block(make: () => unknown): unknown {
    const core = this.#core;
    core.add(this);
    let outcome: { readonly value: unknown } | { readonly error: unknown };
    try {
      outcome = { value: make() };
    } catch (error) {
      outcome = { error };
    }
    core.checkTime();
    if (core.isCancelled) outcome = { error: core.refusal };
    else if ("error" in outcome && core.options.onError !== "ignoreHandled") {
      core.onFailed(outcome.error);
    }
    this.#settle();
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  }

  /** A stream gives its error to its reader. */
  get isHandled(): boolean {
    return this.#stream === undefined ? isHandled(this.promise) : isRead(this.#stream);
  }

  onMade(call: PendingCall): void {
    if (this.#calls.has(call)) return;
    this.#calls.add(call);
    const reason = this.#reason;
    // Made after its scope was cancelled, as its argument had to be checked first. No call may be aborted while it is made.
    if (reason !== undefined) {
      this.#core.target.runtime.microtask(() => this.#abort(reason.value));
    }
  }

  onLeftRunning({ lane, slot, generation }: PendingCall): void {
    this.#lateRuns++;
    this.#core.target.lateRuns.add(lane, slot, generation, () => {
      this.#lateRuns--;
      this.#checkEnded();
    });
  }

  onOver(call: PendingCall): void {
    if (call.extra?.stream?.isOpen === true) this.#isStream = true;
    this.#calls.delete(call);
    this.#checkEnded();
  }

  cancel(reason: unknown): void {
    this.#reason ??= { value: reason };
    this.#abort(reason);
  }

  /** Ends a stream, as nobody may read it: it would not end by itself. */
  leave(): void {
    this.#stream?.return().catch(() => {}); // its end is followed
    for (const { extra } of this.#calls) {
      const stream = extra?.stream;
      if (stream?.isOpen === true) (stream as StreamSink).consumer.cancel();
    }
  }

  #abort(reason: unknown): void {
    for (const call of this.#calls) {
      this.wasCancelled = true;
      this.#core.target.cancellation.abort(call, reason);
    }
  }

  #onResolved(value: unknown): void {
    if (value instanceof ResultStream) this.#followStream(value);
    else this.#settle();
    if (this.#core.isLeaving) this.leave(); // a stream of any kind
  }

  #onRejected(error: unknown): void {
    if (!this.#isOpenedStream(error)) {
      this.#core.onRejected(this, error, () => this.#settle());
      return;
    }
    const { promise } = this;
    this.#followStream((promise as unknown as ResultStream<unknown>)[Symbol.asyncIterator]());
    if (this.#core.isLeaving) this.leave();
  }

  /** Whether the call, whose task was not known yet, turned out to be a stream: then its promise rejects, and it is read. */
  #isOpenedStream(error: unknown): boolean {
    const isStream = this.#isStream || [...this.#calls].some(({ extra }) => extra?.stream?.isOpen);
    return isStream && error instanceof InvalidArgumentError &&
      Symbol.asyncIterator in this.promise;
  }

  #followStream(stream: ResultStream<unknown, unknown>): void {
    this.#stream = stream;
    const { returned } = stream;
    this.promise ??= returned;
    returned.then(() => this.#settle(), (error) => {
      this.#core.onRejected(this, error, () => this.#settle());
    });
  }

  #settle(): void {
    this.#isSettled = true;
    this.#checkEnded();
  }

  #checkEnded(): void {
    if (!this.#isSettled || this.#calls.size > 0 || this.#lateRuns > 0) return;
    this.#stream = undefined;
    this.#core.remove(this);
  }
}
