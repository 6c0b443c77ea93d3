/**
 * What the calls given to one lane and not answered yet amount to, by the estimates of the moment at
 * which each was given (`endpoint/service-times.ts`). Small calls are packed and large ones spread by it.
 */
import {
  type CallLoad,
  FAR,
  KIND_MASK,
  LONG,
  NEAR,
  PER_US,
  tenthsOf,
} from "../endpoint/service-times.ts";
import { AbandonedCalls } from "./abandoned.ts";

/**
 * A call for which host and worker sleep in turn takes two wakes longer, and as much more processor time. A spin
 * is about one wake, so for calls of up to half as long again spinning is cheaper in every respect.
 */
const SPUN_FOR = 1.5;
/** The host's spin for such a call, in usual ones: the answer has a way to go. */
export const SPUN_ALONE = 1.6;

export class LaneLoad {
  /** Calls. */
  outstanding = 0;
  /** Calls sent so far, also those that were taken back. */
  sent = 0;
  /** Of the outstanding ones, calls that nobody waits for any more. */
  readonly abandoned: AbandonedCalls = new AbandonedCalls();
  /** Times that the last of them has gone. */
  emptied = 0;
  /** How long they keep the worker altogether, in tenths of a microsecond. */
  backlog = 0;
  /** A long call beyond this is not spun for. */
  readonly #spunTenths: number;
  #far = 0;
  #long = 0;
  /** Of the long ones. */
  #outlasting = 0;

  /** `spinMs`: the host's usual spin for an answer. */
  constructor(spinMs: number) {
    this.#spunTenths = SPUN_FOR * 1000 * spinMs * PER_US;
  }

  /** The lane has been given a call. */
  add(load: CallLoad): void {
    this.outstanding++;
    this.sent++;
    this.backlog += tenthsOf(load);
    if ((load & KIND_MASK) !== NEAR) this.#count(load, 1);
  }

  remove(load: CallLoad): void {
    if (--this.outstanding === 0) this.clear(); // whatever was miscounted ends here
    else {
      this.backlog -= tenthsOf(load);
      if ((load & KIND_MASK) !== NEAR) this.#count(load, -1);
    }
  }

  clear(): void {
    this.emptied++;
    this.outstanding =
      this.backlog =
      this.#far =
      this.#long =
      this.#outlasting =
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
    return this.#long === 0 && this.#far === 0;
  }

  /** Whether an answer is worth spinning for: one comes soon, and nothing long is before it. */
  get isNear(): boolean {
    return this.#long === 0 && this.outstanding > this.#far;
  }

  /** The same where no other worker has calls: then one that is long, but not too long for a spin, is worth it. */
  get isNearAlone(): boolean {
    return this.#outlasting === 0 && this.outstanding > this.#far;
  }

  #count(load: CallLoad, change: 1 | -1): void {
    if ((load & KIND_MASK) === FAR) this.#far += change;
    else if ((load & KIND_MASK) === LONG) {
      this.#long += change;
      if (tenthsOf(load) > this.#spunTenths) this.#outlasting += change;
    }
  }
}
