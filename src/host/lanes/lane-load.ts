/**
 * The load of one lane: the calls sent to it and not answered, with the estimates from when each was sent
 * (`metering/task-timings.ts`). Placement packs short calls and spreads long ones by it.
 */
import {
  ASYNC,
  type CallLoad,
  KIND_BITS,
  KIND_MASK,
  LONG,
  SHORT,
} from "../../metering/task-timings.ts";
import { OrphanedCalls } from "./orphaned-calls.ts";

export class LaneLoad {
  /** Calls. */
  outstanding = 0;
  /** Calls sent so far, including those revoked later. */
  sent = 0;
  #orphaned: OrphanedCalls | undefined;
  /** How often `outstanding` fell to 0. */
  emptied = 0;
  /** Estimated time of all outstanding calls, in tenths of a microsecond. */
  backlog = 0;
  /** Whether the worker had to be woken by a message and has not answered since. */
  isWaking = false;
  /** Calls of async tasks. */
  async = 0;
  /** Calls of long tasks. */
  long = 0;

  /** Outstanding calls that are already settled for their callers. */
  get orphaned(): OrphanedCalls {
    return this.#orphaned ??= new OrphanedCalls();
  }

  /** A call was sent to the lane. */
  add(load: CallLoad): void {
    this.outstanding++;
    this.sent++;
    this.backlog += (load >> KIND_BITS) - 1; // `tenthsOf`
    if ((load & KIND_MASK) !== SHORT) this.#count(load, 1);
  }

  remove(load: CallLoad): void {
    if (--this.outstanding === 0) {
      this.emptied++;
      this.backlog = this.async = this.long = 0; // any counting error ends here
    } else {
      this.backlog -= (load >> KIND_BITS) - 1;
      if ((load & KIND_MASK) !== SHORT) this.#count(load, -1);
    }
  }

  clear(): void {
    this.emptied++;
    this.outstanding =
      this.backlog =
      this.async =
      this.long =
        0;
  }

  /** Counts again: calls of these loads, and the orphaned ones. */
  recount(loads: Iterable<CallLoad>): void {
    this.clear();
    for (const load of loads) this.add(load);
    for (const load of this.orphaned.loads()) this.add(load);
  }

  /** Whether one of the calls is long. */
  get hasLong(): boolean {
    return this.long > 0;
  }

  /** Whether responses to all calls come soon. */
  get hasOnlyShort(): boolean {
    return this.long === 0 && this.async === 0;
  }

  /** Whether a response may come within a spin: no long call is before it, and the worker is not waking up. */
  get mayRespondSoon(): boolean {
    return this.long === 0 && this.outstanding > this.async && !this.isWaking;
  }

  #count(load: CallLoad, change: 1 | -1): void {
    if ((load & KIND_MASK) === ASYNC) this.async += change;
    else if ((load & KIND_MASK) === LONG) this.long += change;
  }
}
