/** Callers' AbortSignals. A pool adds one listener to each signal, shared by all calls in flight with that signal, and
 * removes it when the last of them is over. */
import { Map, Set } from "../../../../builtins.ts";
import { reasonOf } from "../../../../protocol/abort-reason.ts";
import type { CallPart } from "../../../../host/calls/call-extra.ts";
import type { PendingCall } from "../../../../host/calls/in-flight.ts";

export class Signals {
  readonly #watches = new Map<AbortSignal, SignalWatch>();
  readonly #abort: (call: PendingCall, reason: unknown) => void;

  constructor(abort: (call: PendingCall, reason: unknown) => void) {
    this.#abort = abort;
  }

  /** Aborts the call, which has just been made, when its signal fires. Nothing happens if it is watched already. */
  watch(call: PendingCall, signal: AbortSignal): void {
    if (call.extra?.find(SignalWatch) !== undefined) return;
    let watch = this.#watches.get(signal);
    if (watch === undefined) {
      watch = new SignalWatch(signal, this.#abort, () => this.#watches.delete(signal));
      this.#watches.set(signal, watch);
    }
    watch.add(call);
    // A balancer or a listener of the pool may have aborted the signal while the call was being made.
    if (signal.aborted) this.#abort(call, reasonOf(signal));
  }
}

class SignalWatch implements CallPart {
  readonly #calls = new Set<PendingCall>();
  readonly #signal: AbortSignal;
  readonly #onUnused: () => void;
  readonly #listener: () => void;

  constructor(
    signal: AbortSignal,
    abort: (call: PendingCall, reason: unknown) => void,
    onUnused: () => void,
  ) {
    this.#signal = signal;
    this.#onUnused = onUnused;
    this.#listener = () => {
      // The iteration of a Set skips elements that are deleted meanwhile.
      for (const call of this.#calls) abort(call, reasonOf(signal));
    };
    signal.addEventListener("abort", this.#listener);
  }

  add(call: PendingCall): void {
    call.keep().add(this);
    this.#calls.add(call);
  }

  onOver(call: PendingCall): void {
    this.#calls.delete(call);
    if (this.#calls.size > 0) return;
    this.#onUnused();
    this.#signal.removeEventListener("abort", this.#listener);
  }
}
