/** The calls of a pool that have time limits. */
import type { CallPart } from "../../../../host/calls/call-extra.ts";
import type { PendingCall } from "../../../../host/calls/in-flight.ts";

/** The times of a call, in milliseconds. -1: not yet. */
export class CallTimes implements CallPart {
  readonly call: PendingCall;
  /** When `Deadlines` first saw the call, or when it was made before its task was known. */
  firstSeenMs: number;
  /** When `Deadlines` saw it begun. */
  begunMs: number;
  /** When its stream was cancelled, if its worker is to be stopped a while later. -1: not, or never. */
  cancelledMs: number;
  readonly #all: CallTimes[];
  /** Its place in that list. -1: it is not in it yet, or the call is over. */
  #index: number;

  constructor(call: PendingCall, all: CallTimes[]) {
    this.call = call;
    this.firstSeenMs = -1;
    this.begunMs = -1;
    this.cancelledMs = -1;
    this.#all = all;
    this.#index = -1;
  }

  /** Enters it into the list. */
  enter(): void {
    if (this.#index >= 0) return;
    this.#index = this.#all.length;
    this.#all[this.#index] = this;
  }

  onRenewed(): void {
    this.begunMs = this.cancelledMs = -1;
  }

  /** The stack may end before this or within: the list is whole at each call of a function. */
  onOver(): void {
    if (this.#index < 0) return;
    const last = this.#all.pop()!;
    if (last !== this) {
      this.#all[this.#index] = last;
      last.#index = this.#index;
    }
    this.#index = -1;
  }
}

export class TimedCalls {
  /** In no order. */
  readonly #all: CallTimes[] = [];

  /** The call is among them from now on. */
  watch(call: PendingCall): CallTimes {
    const extra = call.keep();
    let times = extra.find(CallTimes);
    if (times === undefined) {
      times = new CallTimes(call, this.#all);
      extra.add(times);
    }
    // Last: the stack may end before, and what is in the list must be part of its call, whose end takes it out.
    times.enter();
    return times;
  }

  /** As of now. */
  all(): CallTimes[] {
    return this.#all.slice();
  }
}

/** The times of a call with limits. */
export function timesOf({ extra }: PendingCall): CallTimes | undefined {
  return extra?.find(CallTimes);
}
