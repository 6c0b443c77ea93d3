/**
 * Replaces workers that have reached `recycleAfter` or their memory limit: such a worker continues until its successor is
 * ready, then it drains. Workers also drain for another pool that gets their thread.
 */
import { Map } from "../../builtins.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { Lane } from "../lanes/lane.ts";
import { DrainingLanes } from "./draining-lanes.ts";

/** Delay after a failed attempt to recycle a worker. */
const RECYCLE_PAUSE_MS = 5000;

export interface RecyclingOptions {
  readonly runtime: Pick<Runtime, "now" | "setTimeout">;
  readonly dispatcher: Pick<Dispatcher, "lanes" | "retire">;
  /** Asked anew each time. */
  readonly size: { readonly maxThreads: number };
  /** Starts a worker now. */
  readonly spawn: () => Lane;
  /** Starts a worker soon, unless there are enough. Returns its id. */
  readonly replaceLater: () => number | undefined;
  /** Whether a worker is closing, as it was idle or has drained. */
  readonly isRetired: (lane: Lane) => boolean;
  /** Closes a worker that has drained. */
  readonly retire: (lane: Lane) => void;
}

export class Recycling {
  /** Number of workers recycled so far. */
  recycled = 0;
  /** Workers that still have calls to answer. */
  readonly draining: DrainingLanes;
  readonly #options: RecyclingOptions;
  /** Starting successor -> worker it will replace. */
  readonly #successors = new Map<Lane, Lane>();
  /** Worker that was replaced -> the id of its replacement. */
  readonly #replacements = new Map<Lane, number>();
  #fromMs = 0;

  constructor(options: RecyclingOptions) {
    this.#options = options;
    this.draining = new DrainingLanes(options.runtime, options.retire);
  }

  /** Starts the successor of an open worker. False: not now. */
  begin(replaced: Lane): boolean {
    const { dispatcher, runtime, size, spawn } = this.#options;
    if (!dispatcher.lanes.open.includes(replaced)) return false;
    if (this.#hasSuccessor(replaced) || runtime.now() < this.#fromMs) return false;
    // Draining workers may take long, and each is a thread.
    if (this.draining.size + this.#successors.size >= size.maxThreads) return false;
    try {
      this.#successors.set(spawn(), replaced);
      return true;
    } catch {
      return false;
    }
  }

  /** A worker uses far too much memory: it gets no calls while its successor starts. */
  stopCalls(lane: Lane): void {
    this.#letDrain(lane);
    this.#options.dispatcher.retire(lane);
    if (!this.#hasSuccessor(lane)) this.#replaceLater(lane);
  }

  /** A worker has got its last call: another replaces it. */
  replaceAtLimit(lane: Lane): void {
    if (this.draining.has(lane) || this.#options.isRetired(lane)) return;
    this.#letDrain(lane);
    this.#replaceLater(lane);
  }

  /** Closes a worker when it has answered its calls. */
  drain(lane: Lane): void {
    this.draining.add(lane);
    this.#options.dispatcher.retire(lane);
  }

  /** A worker takes calls from now on. */
  onOpened(lane: Lane): void {
    const replaced = this.#successors.get(lane);
    if (replaced === undefined) return;
    this.#successors.delete(lane);
    this.#replacements.set(replaced, lane.id);
    this.#letDrain(replaced);
    this.#options.dispatcher.retire(replaced); // does nothing if it was retired for far too much memory
  }

  /** A worker has ended. Returns the id of its replacement. */
  onEnded(lane: Lane): number | undefined {
    this.draining.delete(lane);
    const id = this.#replacements.get(lane);
    this.#replacements.delete(lane);
    return id;
  }

  /** A worker has ended while the pool goes on. Returns the worker that it was to replace. */
  takeReplacedBy(lane: Lane): Lane | undefined {
    const replaced = this.#successors.get(lane);
    this.#successors.delete(lane);
    return replaced;
  }

  /** This worker ended; its starting successor becomes an ordinary addition. Returns the successor's id. */
  forgetReplaced(replaced: Lane): number | undefined {
    const [successor] = [...this.#successors].find(([, lane]) => lane === replaced) ?? [];
    if (successor !== undefined) this.#successors.delete(successor);
    return successor?.id;
  }

  /** A successor could not start. The worker that it was to replace continues. */
  pause(): void {
    this.#fromMs = this.#options.runtime.now() + RECYCLE_PAUSE_MS;
  }

  #hasSuccessor(lane: Lane): boolean {
    return [...this.#successors.values()].includes(lane);
  }

  #replaceLater(lane: Lane): void {
    const id = this.#options.replaceLater();
    if (id !== undefined) this.#replacements.set(lane, id);
  }

  #letDrain(lane: Lane): void {
    if (this.draining.has(lane) || this.#options.isRetired(lane)) return;
    this.recycled++;
    this.draining.add(lane);
  }
}
