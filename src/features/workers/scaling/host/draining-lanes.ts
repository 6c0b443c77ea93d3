/**
 * Workers that finish their calls and get no others. Those with nothing but orphaned calls, which may never end, are closed
 * after a while.
 */
import { Set } from "../../../../builtins.ts";
import type { Runtime, Timer } from "../../../../runtimes/runtime.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";
import type { LaneSet } from "../../../../host/lanes/lane-set.ts";

/** Time between two checks: the minimum time for which orphaned calls keep a worker open. */
const CHECK_MS = 5000;

export class DrainingLanes {
  readonly #lanes = new Set<Lane>();
  readonly #runtime: Pick<Runtime, "setTimeout">;
  readonly #end: (lane: Lane) => void;
  #timer: Timer | undefined;

  /** `end` closes a worker whose calls have all been settled for their callers. */
  constructor(
    runtime: Pick<Runtime, "setTimeout">,
    lanes: Pick<LaneSet, "watch">,
    end: (lane: Lane) => void,
  ) {
    this.#runtime = runtime;
    this.#end = end;
    lanes.watch((lane) => {
      if (lane.phase === "closing" || lane.phase === "gone") this.#lanes.delete(lane);
    });
  }

  get size(): number {
    return this.#lanes.size;
  }

  has(lane: Lane): boolean {
    return this.#lanes.has(lane);
  }

  add(lane: Lane): void {
    this.#lanes.add(lane);
    this.#timer ??= this.#watch();
  }

  close(): void {
    this.#timer?.clear();
  }

  #watch(): Timer {
    const timer = this.#runtime.setTimeout(() => {
      for (const lane of this.#lanes) {
        if (lane.load.outstanding === lane.load.orphaned.size) this.#end(lane);
      }
      this.#timer = this.#lanes.size > 0 ? this.#watch() : undefined;
    }, CHECK_MS);
    timer.unref();
    return timer;
  }
}
