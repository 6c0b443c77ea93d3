/**
 * Replaces workers that have reached `recycleAfter` or their memory limit: such a worker continues until its successor is
 * ready, then it drains.
 */
import { Map } from "../../../../builtins.ts";
import { RECYCLED } from "../../../../host/dispatch/lane-phases.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";
import { DrainingLanes } from "./draining-lanes.ts";
import type { Recycling, Workers } from "../../../../host/workers/feature.ts";

/** Delay after a failed attempt to recycle a worker. */
const RECYCLE_PAUSE_MS = 5000;

export class WorkerRecycling implements Recycling {
  recycled = 0;
  /** Workers that still have calls to answer. */
  readonly #draining: DrainingLanes;
  readonly #workers: Workers;
  /** Starting successor -> worker it will replace. */
  readonly #successors = new Map<Lane, Lane>();
  /** Worker that was replaced -> the id of its replacement. */
  readonly #replacements = new Map<Lane, number>();
  #fromMs = 0;

  constructor(workers: Workers) {
    const { runtime, dispatcher: { lanes, phases } } = workers;
    this.#workers = workers;
    this.#draining = new DrainingLanes(runtime, lanes, (lane) => phases.end(lane, lane.endsFor!));
    lanes.watch((lane, from) => {
      if (from === "preparing" && lane.phase === "open") this.#onOpened(lane);
    });
  }

  /** Only draining workers beyond `maxThreads` count. */
  get occupied(): number {
    return Math.max(0, this.#draining.size - this.#workers.size.maxThreads);
  }

  /** Starts the successor of an open worker. False: not now; asked again after later responses or the next memory report. */
  recycle(replaced: Lane): boolean {
    const { runtime, size, isClosing, isDraining } = this.#workers;
    if (isClosing || isDraining || replaced.phase !== "open") return false;
    if (this.#hasSuccessor(replaced) || runtime.now() < this.#fromMs) return false;
    // Draining workers may take long, and each is a thread.
    if (this.#draining.size + this.#successors.size >= size.maxThreads) return false;
    try {
      this.#successors.set(this.#workers.spawn(), replaced);
      return true;
    } catch {
      return false;
    }
  }

  /** A worker uses too much memory. If far too much, it gets no calls while its successor starts. */
  onFull(lane: Lane, isFarOver: boolean): void {
    if (lane.endpoint.tx.sequence === 0) return; // it has run no call
    this.recycle(lane);
    if (!isFarOver || this.#workers.isClosing || lane.phase !== "open") return;
    this.drain(lane);
    if (!this.#hasSuccessor(lane)) this.#replaceLater(lane);
  }

  replaceAtLimit(lane: Lane): void {
    if (this.#workers.isClosing || lane.phase !== "draining" || this.#draining.has(lane)) return;
    this.drain(lane);
    this.#replaceLater(lane);
  }

  /** A worker takes calls from now on: the one that it replaces gets no more. */
  #onOpened(lane: Lane): void {
    const replaced = this.#successors.get(lane);
    if (replaced === undefined) return;
    this.#successors.delete(lane);
    this.#replacements.set(replaced, lane.id);
    this.drain(replaced);
  }

  onGone(
    lane: Lane,
  ): { readonly replacedBy: number | undefined; readonly isSuccessor: boolean } {
    const isSuccessor = this.#successors.delete(lane);
    // Its starting successor becomes an ordinary addition.
    const [successor] = [...this.#successors].find(([, replaced]) => replaced === lane) ?? [];
    if (successor !== undefined) this.#successors.delete(successor);
    const replacedBy = this.#replacements.get(lane) ?? successor?.id;
    this.#replacements.delete(lane);
    return { replacedBy, isSuccessor };
  }

  /** A successor could not start. The worker that it was to replace continues. */
  pause(): void {
    this.#fromMs = this.#workers.runtime.now() + RECYCLE_PAUSE_MS;
  }

  /** Closes a worker when it has answered its calls. */
  drain(lane: Lane, reason: string = RECYCLED): void {
    if (lane.phase === "closing" || lane.phase === "gone" || this.#draining.has(lane)) return;
    if (reason === RECYCLED) this.recycled++;
    this.#draining.add(lane);
    this.#workers.dispatcher.phases.drain(lane, reason);
  }

  close(): void {
    this.#draining.close();
  }

  #hasSuccessor(lane: Lane): boolean {
    return [...this.#successors.values()].includes(lane);
  }

  #replaceLater(lane: Lane): void {
    const id = this.#workers.replaceLater();
    if (id !== undefined) this.#replacements.set(lane, id);
  }
}
