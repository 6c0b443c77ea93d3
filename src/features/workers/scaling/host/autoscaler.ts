/**
 * Grows and shrinks a pool between its limits.
 *
 * A call without a worker that could take it starts one at once. Otherwise a start takes tens of milliseconds, so a burst
 * alone does not cause one. One more is started when what waits is worth a start (`start-cost.ts`), and the next after a while
 * again. A worker that has been idle for `idleTimeoutMs` is closed.
 */
import type { Runtime, Timer } from "../../../../runtimes/runtime.ts";
import type { StartableCalls } from "../../../../host/dispatch/dispatcher.ts";
import { isHome } from "./recycling.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";
import { LastProgress } from "../../../../host/lanes/last-progress.ts";
import type { PoolSize } from "../../../../host/workers/feature.ts";

/** Time that calls must wait before a worker is started. */
const GROW_AFTER_MS = 10;
/** Pause between calls that wait after which earlier waits do not count. */
const FORGET_MS = 1000;
/** Time for which a worker with only orphaned calls is kept, at least. */
const ORPHANED_GRACE_MS = 5000;

export interface AutoscalerOptions {
  readonly runtime: Runtime;
  /** Asked anew each time. */
  readonly size: Pick<PoolSize, "minThreads" | "maxThreads" | "idleTimeoutMs">;
  /** Workers that take calls. */
  readonly lanes: () => readonly Lane[];
  /** Workers that take calls, are starting, or are about to be replaced. */
  readonly alive: () => number;
  /** Whether a replacement is delayed: no worker is started meanwhile. */
  readonly isBackingOff: () => boolean;
  /** Whether a worker takes calls or is starting. */
  readonly hasWorker: () => boolean;
  /** Workers that are starting. */
  readonly starting: () => number;
  /** Calls that wait for a further worker. */
  readonly startable: () => StartableCalls;
  /** Whether a worker is worth its start when calls have waited for so many milliseconds in all. */
  readonly isWorthStart: (waitedMs: number) => boolean;
  readonly start: () => void;
  /** Closes an idle worker. */
  readonly end: (lane: Lane) => void;
}

export class Autoscaler {
  readonly #options: AutoscalerOptions;
  #growth: Timer | undefined;
  #shrinking: Timer | undefined;
  /** For how long calls have waited since the last start, with pauses of up to FORGET_MS. */
  #waitedMs = 0;
  #lastWaitMs = 0;
  /** The tail of each lane at an earlier check. */
  #tailProgress = new LastProgress<number>();
  #isClosed = false;

  constructor(options: AutoscalerOptions) {
    this.#options = options;
  }

  /** Starts a worker if calls wait for one. Called before the host parks, and when a call is queued. */
  check(): void {
    const { runtime, size, alive, hasWorker, startable, start } = this.#options;
    const isWatched = this.#growth !== undefined && hasWorker();
    if (this.#isClosed || isWatched || alive() >= size.maxThreads) return;
    const calls = startable();
    if (!this.#mayWait(calls)) return;
    if (!hasWorker()) {
      start();
      return;
    }
    if (runtime.now() - this.#lastWaitMs > FORGET_MS) this.#waitedMs = 0;
    this.#grow();
  }

  /** Whether calls wait that a further worker would run, or may turn out to. */
  #mayWait({ count, following }: StartableCalls): boolean {
    return count + following > 0 && !this.#options.isBackingOff();
  }

  /** Looks again after a while, and starts a worker if calls still wait and it is worth that. */
  #grow(): void {
    const { runtime, size, alive, starting, startable, isWorthStart, lanes, start } = this.#options;
    const sinceMs = runtime.now();
    this.#growth = runtime.setTimeout(() => {
      this.#growth = undefined;
      if (this.#isClosed || alive() >= size.maxThreads) return;
      const calls = startable();
      if (!this.#mayWait(calls)) return;
      if (calls.count > starting()) {
        this.#lastWaitMs = runtime.now();
        if (lanes().length > 0) this.#waitedMs += this.#lastWaitMs - sinceMs;
        if (isWorthStart(this.#waitedMs)) {
          start();
          this.#waitedMs = 0;
        }
      }
      this.#grow();
    }, GROW_AFTER_MS);
    this.#growth.unref();
  }

  /** A worker is ready. */
  onReady(): void {
    const { size: { minThreads, idleTimeoutMs }, lanes } = this.#options;
    if (this.#isClosed || this.#shrinking !== undefined || lanes().length <= minThreads) return;
    if (idleTimeoutMs === Infinity) return;
    // Idle at two checks without a call in between: idle for the time between them.
    this.#shrinkLater();
  }

  /** Not an interval: a host that blocks runs timeouts alone (`Runtime.runDueTimeouts`). */
  #shrinkLater(): void {
    const { runtime, size: { idleTimeoutMs } } = this.#options;
    this.#shrinking = runtime.setTimeout(() => {
      this.#shrinkLater();
      this.#shrink();
    }, idleTimeoutMs);
    this.#shrinking.unref();
  }

  close(): void {
    this.#isClosed = true;
    this.#growth?.clear();
    this.#stopShrinking();
  }

  #shrink(): void {
    const { size: { minThreads }, lanes, end, runtime } = this.#options;
    const nowMs = runtime.now();
    for (const lane of [...lanes()].reverse()) {
      const { outstanding, orphaned } = lane.load;
      if (outstanding > orphaned.size || isHome(lane)) continue;
      const idleMs = nowMs - this.#tailProgress.sinceMs(lane, lane.endpoint.tx.tailPosition, nowMs);
      if (idleMs === 0 || (outstanding > 0 && idleMs < ORPHANED_GRACE_MS)) continue;
      if (lanes().length > minThreads) end(lane);
    }
    if (lanes().length <= minThreads) this.#stopShrinking();
  }

  #stopShrinking(): void {
    this.#shrinking?.clear();
    this.#shrinking = undefined;
    this.#tailProgress = new LastProgress();
  }
}
