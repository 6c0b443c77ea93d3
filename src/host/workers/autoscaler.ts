/**
 * Grows and shrinks a pool between its limits.
 *
 * Starting a worker takes tens of milliseconds, so a burst alone is no reason: one more is started when
 * calls have been waiting for a while that no worker could take, then the next after as long again. A
 * worker that has had nothing to do for `idleTimeoutMs` is closed.
 */
import type { Runtime, Timer } from "../../runtimes/runtime.ts";
import type { Lane } from "../balance/lane.ts";
import { LastProgress } from "../last-progress.ts";

/** Calls have to wait so long for a worker to be started. */
const GROW_AFTER_MS = 10;
/** A worker that goes on with calls that nobody waits for has so long, at least. */
const ABANDONED_MS = 5000;

export interface ElasticOptions {
  readonly runtime: Runtime;
  readonly minThreads: number;
  readonly maxThreads: number;
  readonly idleTimeoutMs: number;
  /** Workers that take calls. */
  readonly lanes: () => readonly Lane[];
  /** Workers that take calls, those starting, and those to be replaced. */
  readonly alive: () => number;
  /** Whether a worker is to be replaced after a pause: none is started meanwhile. */
  readonly isBackingOff: () => boolean;
  /** Whether calls wait that a further worker would run. */
  readonly isWaiting: () => boolean;
  readonly start: () => void;
  readonly retire: (lane: Lane) => void;
}

export class Autoscaler {
  readonly #options: ElasticOptions;
  #growth: Timer | undefined;
  #shrinking: Timer | undefined;
  /** How many calls each lane had been given at an earlier look. */
  #given = new LastProgress<number>();
  #isClosed = false;

  constructor(options: ElasticOptions) {
    this.#options = options;
  }

  /** Calls may be waiting: to be called before the host sleeps, and when it keeps a call. */
  look(): void {
    const { runtime, maxThreads, alive, isBackingOff, isWaiting, start } = this.#options;
    if (this.#isClosed || this.#growth !== undefined || alive() >= maxThreads) return;
    if (isBackingOff() || !isWaiting()) return;
    if (alive() === 0) {
      start();
      return;
    }
    this.#growth = runtime.setTimeout(() => {
      this.#growth = undefined;
      if (this.#isClosed || isBackingOff() || !isWaiting() || alive() >= maxThreads) return;
      start();
      this.look();
    }, GROW_AFTER_MS);
    this.#growth.unref();
  }

  /** A worker takes calls from now on. */
  onReady(): void {
    const { runtime, minThreads, idleTimeoutMs, lanes } = this.#options;
    if (this.#isClosed || this.#shrinking !== undefined || lanes().length <= minThreads) return;
    if (idleTimeoutMs === Infinity) return;
    // Idle at two looks with no call in between: idle for the time between them.
    this.#shrinking = runtime.setInterval(() => this.#shrink(), idleTimeoutMs);
    this.#shrinking.unref();
  }

  close(): void {
    this.#isClosed = true;
    this.#growth?.clear();
    this.#stopShrinking();
  }

  #shrink(): void {
    const { minThreads, lanes, retire, runtime } = this.#options;
    const nowMs = runtime.now();
    for (const lane of [...lanes()].reverse()) {
      const { outstanding, abandoned } = lane.load;
      if (outstanding > abandoned.size) continue;
      const idleMs = nowMs - this.#given.sinceMs(lane, lane.endpoint.tx.tailPosition, nowMs);
      if (idleMs === 0 || (outstanding > 0 && idleMs < ABANDONED_MS)) continue;
      if (lanes().length > minThreads) retire(lane);
    }
    if (lanes().length <= minThreads) this.#stopShrinking();
  }

  #stopShrinking(): void {
    this.#shrinking?.clear();
    this.#shrinking = undefined;
    this.#given = new LastProgress();
  }
}
