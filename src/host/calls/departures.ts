/** What the host has sent that counts as being on its way: until it has arrived, or whatever carries it is over. */
import type { Departure } from "../../realm/handles.ts";

/** So many are kept without a look at which have arrived. */
const MIN_KEPT = 32;

export class Departures {
  #all: Departure[] = [];
  #maxKept = MIN_KEPT;

  /** These are sent. */
  carry(departures: readonly Departure[]): void {
    for (const departure of departures) departure.carry(false);
    this.#all.push(...departures);
    if (this.#all.length <= this.#maxKept) return;
    this.#all = this.#all.filter(({ hasArrived }) => !hasArrived);
    this.#maxKept = Math.max(MIN_KEPT, 2 * this.#all.length);
  }

  /** Nothing of what was sent will arrive any more. */
  end(): void {
    for (const departure of this.#all.splice(0)) departure.end();
  }
}
