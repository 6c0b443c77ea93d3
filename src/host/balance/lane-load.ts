/**
 * What the calls given to one lane and not answered yet amount to, by the estimates of the moment at
 * which each was given (`lane/task-timings.ts`). Small calls are packed and large ones spread by it.
 */
import { ASYNC, type CallLoad, KIND_MASK, LONG, SHORT, tenthsOf } from "../../lane/task-timings.ts";
import { OrphanedCalls } from "../cancel/orphaned-calls.ts";

export class LaneLoad {
  /** Calls. */
  outstanding = 0;
  /** Calls sent so far, also those that were taken back. */
  sent = 0;
  /** Of the outstanding ones, calls that nobody waits for any more. */
  readonly abandoned: OrphanedCalls = new OrphanedCalls();
  /** Times that the last of them has gone. */
  emptied = 0;
  /** How long they keep the worker altogether, in tenths of a microsecond. */
  backlog = 0;
  /** Whether the worker had to be woken and has not answered since. */
  isWaking = false;
  #async = 0;
  #long = 0;

  /** The lane has been given a call. */
  add(load: CallLoad): void {
    this.outstanding++;
    this.sent++;
    this.backlog += tenthsOf(load);
    if ((load & KIND_MASK) !== SHORT) this.#count(load, 1);
  }

  remove(load: CallLoad): void {
    if (--this.outstanding === 0) this.clear(); // whatever was miscounted ends here
    else {
      this.backlog -= tenthsOf(load);
      if ((load & KIND_MASK) !== SHORT) this.#count(load, -1);
    }
  }

  clear(): void {
    this.emptied++;
    this.outstanding =
      this.backlog =
      this.#async =
      this.#long =
        0;
  }

  /** Counts anew: calls of these loads, and those that nobody waits for. */
  recount(loads: Iterable<CallLoad>): void {
    this.clear();
    for (const load of loads) this.add(load);
    for (const load of this.abandoned.loads()) this.add(load);
  }

  /** Whether one of the calls is a long one. */
  get hasLong(): boolean {
    return this.#long > 0;
  }

  /** Whether all calls are answered soon. */
  get isQuick(): boolean {
    return this.#long === 0 && this.#async === 0;
  }

  /** Whether an answer may come within a spin: nothing long is before it, and the worker need not wake up first. */
  get isNear(): boolean {
    return this.#long === 0 && this.outstanding > this.#async && !this.isWaking;
  }

  #count(load: CallLoad, change: 1 | -1): void {
    if ((load & KIND_MASK) === ASYNC) this.#async += change;
    else if ((load & KIND_MASK) === LONG) this.#long += change;
  }
}
