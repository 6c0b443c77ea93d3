/**
 * The calls whose submission is on the stack: getters of one may make another. Should the stack overflow
 * within one, nothing may be left to reject it; so what is written here is written by plain stores, and
 * looked at when no submission is on the stack any more.
 */
import type { InFlight } from "./in-flight.ts";

export class Submissions {
  count = 0;
  readonly slots: number[] = [];
  /** Slots are used again: the generation tells a call from the next in its slot. */
  readonly generations: number[] = [];

  /** Rejects the calls that were cut off. */
  dropAbandoned(inFlight: InFlight): void {
    while (this.count > 0) {
      const slot = this.slots[--this.count]!;
      if (!inFlight.has(slot, this.generations[this.count]!)) continue;
      inFlight.reject(slot, new RangeError("The stack overflowed while this call was made."));
    }
  }
}
