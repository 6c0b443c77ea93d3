/**
 * Abandoned threads: threads of stopped workers that go on. On Deno, `terminate()` returns but cannot stop a thread that loops or blocks: the thread runs until its task
 * returns, and uses a core if it loops. So their number is limited, and while there are any, hard time limits are
 * multiplied by (abandoned threads + busy workers) / cores if that is above 1.
 */
import { Set } from "../../../../builtins.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";

export interface AbandonedThreadsOptions {
  readonly cores: number;
  /** Maximum of abandoned threads. */
  readonly max: number;
  /** Whether the runtime stops threads that loop. */
  readonly canStop: boolean;
}

export class AbandonedThreads {
  readonly #options: AbandonedThreadsOptions;
  readonly #lanes = new Set<Lane>();

  constructor(options: AbandonedThreadsOptions) {
    this.#options = options;
  }

  get size(): number {
    for (const lane of this.#lanes) if (!isStillRunning(lane)) this.#lanes.delete(lane);
    return this.#lanes.size;
  }

  /** Whether the worker may be stopped, even if its thread goes on. */
  mayStop(lane: Lane): boolean {
    return this.#mayEnd(lane) || this.size < this.#options.max;
  }

  /** Call when stopping a worker. Adds its thread, and returns true, if `terminate()` will not end it. */
  add(lane: Lane): boolean {
    if (this.#mayEnd(lane)) return false;
    this.#lanes.add(lane);
    return true;
  }

  /** The factor, at least 1, by which `busy` workers take longer because abandoned threads share the cores. */
  stretch(busy: number): number {
    const { size } = this;
    return size === 0 ? 1 : Math.max(1, (size + busy) / this.#options.cores);
  }

  #mayEnd(lane: Lane): boolean {
    return this.#options.canStop || !isStillRunning(lane);
  }
}

/** The task has returned if the worker is parked, or a response of it is unread or waits for room. */
function isStillRunning(lane: Lane): boolean {
  return lane.isAwake && !lane.hasBacklog && !lane.endpoint.rx.hasRecord;
}
