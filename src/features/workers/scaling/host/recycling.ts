/**
 * Replaces workers that have reached `recycleAfter` or their memory limit: such a worker continues until its successor is
 * ready, then it drains. One that drains with nothing but orphaned calls, which may never end, is closed after a while.
 */
import { WeakSet } from "../../../../builtins.ts";
import type { Timer } from "../../../../runtimes/runtime.ts";
import { RECYCLED } from "../../../../host/dispatch/lane-phases.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";
import type { Phase } from "../../../../host/lanes/phase.ts";
import type { Recycling, Workers } from "../../../../host/workers/feature.ts";

/** Delay after a failed attempt to recycle a worker. */
const RECYCLE_PAUSE_MS = 5000;
/** Time between two checks: the minimum time for which orphaned calls keep a worker open. */
const CHECK_MS = 5000;

/** Whether objects of the program live in it, which would be lost. */
export const isHome = ({ residents = 0 }: Lane): boolean => residents > 0;

export class WorkerRecycling implements Recycling {
  recycled = 0;
  readonly #workers: Workers;
  /** Workers that are to replace others, while they start. */
  #successors: Lane[] = [];
  /** Workers that drain since they reached a limit, or that give their threads back. */
  readonly #drained = new WeakSet<Lane>();
  #fromMs = 0;
  #timer: Timer | undefined;

  constructor(workers: Workers) {
    this.#workers = workers;
    workers.dispatcher.lanes.watch((lane, from) => this.#onPhase(lane, from));
  }

  /** Starts the successor of an open worker. False: not now; asked again after later responses or the next memory report. */
  recycle(replaced: Lane): boolean {
    const { runtime, size, isClosing, isDraining } = this.#workers;
    if (isClosing || isDraining || replaced.phase !== "open") return false;
    if (this.#successorOf(replaced) !== undefined || runtime.now() < this.#fromMs) return false;
    // Draining workers may take long, and each is a thread.
    if (this.#draining.length + this.#successors.length >= size.maxThreads) return false;
    try {
      const successor = this.#workers.spawn();
      successor.replaces = replaced;
      this.#successors.push(successor);
      return true;
    } catch {
      return false;
    }
  }

  /** A worker uses too much memory. If far too much, it gets no calls while its successor starts. */
  onFull(lane: Lane, isFarOver: boolean): void {
    if (lane.endpoint.tx.sequence === 0 || isHome(lane)) return; // the first: it has run no call
    this.recycle(lane);
    if (!isFarOver || this.#workers.isClosing || lane.phase !== "open") return;
    this.drain(lane);
    if (this.#successorOf(lane) === undefined) lane.replacedBy = this.#workers.replaceLater();
  }

  replaceAtLimit(lane: Lane): void {
    if (this.#workers.isClosing || lane.phase !== "draining" || this.#drained.has(lane)) return;
    this.drain(lane);
    lane.replacedBy = this.#workers.replaceLater();
  }

  /** Closes a worker when it has answered its calls. */
  drain(lane: Lane, reason: string = RECYCLED): void {
    if (lane.phase === "closing" || lane.phase === "gone" || this.#drained.has(lane)) return;
    this.#drained.add(lane);
    if (reason === RECYCLED) this.recycled++;
    this.#timer ??= this.#watch();
    this.#workers.dispatcher.phases.drain(lane, reason);
  }

  #onPhase(lane: Lane, from: Phase): void {
    if (lane.phase === "gone") {
      const successor = this.#successorOf(lane);
      if (successor !== undefined) { // it becomes an ordinary addition
        lane.replacedBy = successor.id;
        successor.replaces = undefined;
      }
      // A successor could not start: the worker that it was to replace continues.
      if (lane.replaces !== undefined) {
        this.#fromMs = this.#workers.runtime.now() + RECYCLE_PAUSE_MS;
      }
    } else if (from !== "preparing" || lane.phase !== "open") return;
    const { replaces } = lane;
    this.#successors = this.#successors.filter((other) => other !== lane && other.replaces);
    if (lane.phase !== "open" || replaces === undefined) return;
    lane.replaces = undefined;
    if (isHome(replaces)) return this.#workers.dispatcher.phases.end(lane, "it is not needed");
    replaces.replacedBy = lane.id;
    this.drain(replaces);
  }

  get #draining(): Lane[] {
    return this.#workers.dispatcher.lanes.all
      .filter(({ phase, isUnstoppable }) => phase === "draining" && !isUnstoppable);
  }

  #successorOf(lane: Lane): Lane | undefined {
    return this.#successors.find(({ replaces }) => replaces === lane);
  }

  close(): void {
    this.#timer?.clear();
  }

  #watch(): Timer {
    const { runtime, dispatcher: { phases } } = this.#workers;
    const timer = runtime.setTimeout(() => {
      for (const lane of this.#draining) {
        if (lane.load.outstanding === lane.load.orphaned.size) phases.end(lane, lane.endsFor!);
      }
      this.#timer = this.#draining.length > 0 ? this.#watch() : undefined;
    }, CHECK_MS);
    timer.unref();
    return timer;
  }
}
