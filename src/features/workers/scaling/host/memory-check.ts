/**
 * The limit `maxWorkerBytes` for workers that a long task keeps from reporting their memory: it is read from outside, once a second
 * while calls are in flight, where the runtime can.
 */
import type { Part, PoolParts } from "../../../../api/pool/parts.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";
import type { WorkerRecycling } from "./recycling.ts";

/** Of the ticks of the pool, which come every 100 ms. */
const TICKS = 10;

export class MemoryCheck implements Part {
  readonly #host: PoolParts;
  #ticks = 0;

  constructor(host: PoolParts) {
    this.#host = host;
  }

  onTick(): void {
    if (++this.#ticks % TICKS !== 0) return;
    for (const lane of this.#host.dispatcher.lanes.all) {
      if (lane.load.outstanding > 0) void this.#check(lane);
    }
  }

  async #check(lane: Lane): Promise<void> {
    const { spec: { options }, supervisor } = this.#host;
    const { heapBytes = 0 } = await lane.read?.() ?? {};
    if (heapBytes <= (options.startData["scaling"] as number) || lane.load.outstanding === 0) {
      return;
    }
    // Its calls go on; those that it has not begun move to its successor.
    (supervisor.recycling as WorkerRecycling).onFull(lane, false);
  }
}

export function createMemoryCheck(host: PoolParts): MemoryCheck {
  return new MemoryCheck(host);
}
