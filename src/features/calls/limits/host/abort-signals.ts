/**
 * Callers' AbortSignals. A pool adds one listener to each signal, shared by all calls in flight with that signal, and
 * removes it when the last of them is over.
 */
import { Map, Set } from "../../../../builtins.ts";
import type { PoolParts } from "../../../../api/pool/parts.ts";
import type { CallPart } from "../../../../host/calls/call-extra.ts";
import type { PendingCall } from "../../../../host/calls/in-flight.ts";
import { reasonOf } from "../../../../protocol/abort-reason.ts";
import { type Cancellation, createCancellation } from "./cancellation.ts";

export function createSignals(host: PoolParts): Signals {
  return new Signals(host.part(createCancellation));
}

export class Signals {
  readonly cancellation: Pick<Cancellation, "abort">;
  readonly watches: Map<AbortSignal, SignalWatch> = new Map();

  constructor(cancellation: Pick<Cancellation, "abort">) {
    this.cancellation = cancellation;
  }

  /** Aborts the call, which has just been made, when its signal fires. Nothing happens if it is watched already. */
  watch(call: PendingCall): void {
    const signal = call.settings.signal!;
    let watch = this.watches.get(signal);
    if (watch === undefined) this.watches.set(signal, watch = new SignalWatch(this, signal));
    call.keep().add(watch);
    watch.calls.add(call);
    // A balancer or a listener of the pool may have aborted the signal while the call was being made.
    if (signal.aborted) this.cancellation.abort(call, reasonOf(signal));
  }
}

class SignalWatch implements CallPart {
  readonly calls: Set<PendingCall> = new Set();
  readonly #signals: Signals;
  readonly #signal: AbortSignal;
  readonly #onAbort = (): void => {
    // The iteration of a Set skips elements that are deleted meanwhile.
    for (const call of this.calls) this.#signals.cancellation.abort(call, reasonOf(this.#signal));
  };

  constructor(signals: Signals, signal: AbortSignal) {
    this.#signals = signals;
    this.#signal = signal;
    signal.addEventListener("abort", this.#onAbort);
  }

  onOver(call: PendingCall): void {
    this.calls.delete(call);
    if (this.calls.size > 0) return;
    this.#signals.watches.delete(this.#signal);
    this.#signal.removeEventListener("abort", this.#onAbort);
  }
}
