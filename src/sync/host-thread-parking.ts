/** How a worker parks that runs on its host's thread. */
import type { OneWord } from "./awake-count.ts";
import { BLOCKED, Parker } from "./worker-parking.ts";

/** More than any machine has cores. */
const ALL_CORES = 1024;

/** The side of a worker on its host's thread. It never blocks. While it lives, no thread of its pools spins. */
export class HostThreadParker extends Parker {
  constructor(
    words: Int32Array<SharedArrayBuffer>,
    index: number,
    counts: readonly OneWord[] = [],
  ) {
    super(words, index, counts);
    // The host would spin for a response that its own thread has to make. `AwakeCount.subtract` ends this.
    for (const count of counts) Atomics.add(count, 0, ALL_CORES);
  }

  override block(): boolean {
    return !this.cancel(BLOCKED);
  }
}
