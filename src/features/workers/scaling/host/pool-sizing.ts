/**
 * How many workers a pool has: between its limits by load (`autoscaler.ts`), within its budget of threads (`pool-budget.ts`), and
 * while enough memory is free; and which of its workers it gives back.
 */
import { Set } from "../../../../builtins.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";
import { LastProgress } from "../../../../host/lanes/last-progress.ts";
import type { Phase } from "../../../../host/lanes/phase.ts";
import type { Sizing, Workers } from "../../../../host/workers/feature.ts";
import { Autoscaler } from "./autoscaler.ts";
import { type BudgetMember, type BudgetShare, PoolBudget } from "./pool-budget.ts";
import { isHome, type WorkerRecycling } from "./recycling.ts";
import { StartCost } from "./start-cost.ts";

/** Why a worker ends whose thread another pool gets. */
const GIVEN_BACK = "another pool gets its thread";
/** Time for which a worker has had no call before another pool gets its thread. */
const IDLE_MS = 10;
/** The first calls of a pool take longer than those behind them, because their code is not compiled yet. */
const COLD_CALLS = 16;
/** Timers may be early by so much. */
const EARLY_MS = 1;
/** Time between two readings of the free memory while it does not suffice: each takes up to 1 ms. */
const SHORT_MS = 100;

export class PoolSizing implements Sizing, BudgetMember {
  /** Whether the pool may have fewer workers than `maxThreads`, and starts further ones when calls wait. */
  isElastic: boolean;
  readonly #workers: Workers;
  readonly #elastic: Autoscaler;
  readonly #cost: StartCost;
  readonly #share: BudgetShare;
  /** The tail of each lane when another pool last wanted a worker. */
  readonly #tails = new LastProgress<number>();
  /** The memory that is free is not read before. */
  #shortUntilMs = 0;
  /** Workers that give their threads back: they answer their last calls, or close. */
  readonly #returned = new Set<Lane>();

  constructor(workers: Workers) {
    const { size, runtime, dispatcher } = workers;
    const { lanes, phases } = dispatcher;
    this.#workers = workers;
    const cost = this.#cost = new StartCost(runtime.now);
    this.#elastic = new Autoscaler({
      size,
      runtime,
      lanes: () => lanes.open,
      alive: () => workers.alive + workers.delayed,
      isBackingOff: () => workers.delayed > 0,
      hasWorker: () => this.#usable > 0,
      starting: () => workers.starting,
      startable: () => dispatcher.startable,
      isWorthStart: (waitedMs) => {
        const isCold = dispatcher.responses.taken < COLD_CALLS;
        return cost.isWorth(isCold ? undefined : dispatcher.backlogMs, workers.alive, waitedMs);
      },
      start: () => {
        if (this.mayStart(workers.alive)) workers.startOrReplaceLater();
      },
      end: (lane) => phases.end(lane, "it was idle"),
    });
    this.isElastic = size.minThreads < size.maxThreads;
    this.#share = (size.budget as PoolBudget | undefined ?? PoolBudget.ofThread(runtime.cores))
      .join(this, size.share ?? { guaranteed: size.minThreads, isLimited: false }, runtime.now);
    lanes.watch((lane, from) => this.#onPhase(lane, from));
  }

  /** Workers that take calls, or will. */
  get #usable(): number {
    return this.#workers.dispatcher.lanes.open.length + this.#workers.starting;
  }

  /** Whether calls wait that a further worker would run. */
  get #isShort(): boolean {
    return this.#workers.dispatcher.startable.count > this.#workers.starting;
  }

  /** Whether the memory that is free now suffices for a further worker. Asked again while calls wait. */
  get #hasMemory(): boolean {
    const { runtime, size: { minFreeMemory = 0 } } = this.#workers;
    if (minFreeMemory === 0) return true;
    if (runtime.now() < this.#shortUntilMs) return false;
    const memory = runtime.systemMemory();
    if (typeof memory === "string" || memory.freeBytes >= minFreeMemory) return true;
    this.#shortUntilMs = runtime.now() + SHORT_MS;
    return false;
  }

  /** Whether a worker may start beside these: any time if no other can take calls, or while it is guaranteed. */
  mayStart(alive: number): boolean {
    const share = this.#share;
    if (alive < share.guaranteed) return true;
    if (this.#usable === 0) {
      if (!share.hasRoom) this.#replaceIdle();
      return true;
    }
    const mayStart = this.#hasMemory && (this.#isShort ? share.request() : share.hasRoom);
    if (!mayStart) this.isElastic = true;
    return mayStart;
  }

  /** A worker starts beyond the budget: an idle one of another pool closes, now or when it has been idle for a while. */
  #replaceIdle(): void {
    const share = this.#share;
    share.budget.takeBack(share, false);
    const later = (): void => {
      if (share.budget.isExceeded) share.budget.takeBack(share, false);
    };
    this.#workers.runtime.setTimeout(later, IDLE_MS).unref();
  }

  get wantsThread(): boolean {
    return this.#isShort && this.#workers.mayStart && this.#hasMemory;
  }

  get isReturning(): boolean {
    return this.#returned.size > 0;
  }

  start(): void {
    this.#workers.startOrReplaceLater();
    this.check();
  }

  /** One that has been idle since an earlier look, or the one with the fewest calls. */
  giveBack(mayBeBusy: boolean): boolean {
    const { runtime, dispatcher: { lanes: { open }, phases }, recycling } = this.#workers;
    if (open.length <= this.#share.guaranteed || (!mayBeBusy && this.#isShort)) return false;
    const nowMs = runtime.now();
    const free = open.filter((lane) => !isHome(lane));
    const idle = free.filter((lane) => {
      const sinceMs = this.#tails.sinceMs(lane, lane.endpoint.tx.tailPosition, nowMs);
      return lane.load.outstanding === 0 && nowMs - sinceMs >= IDLE_MS - EARLY_MS;
    });
    const calls = ({ load }: Lane): number => load.outstanding;
    const lane = idle.at(-1) ??
      (mayBeBusy ? free.toSorted((one, other) => calls(one) - calls(other))[0] : undefined);
    if (lane === undefined) return false;
    this.isElastic = true;
    this.#returned.add(lane);
    if (calls(lane) === 0) phases.end(lane, GIVEN_BACK);
    else (recycling as WorkerRecycling).drain(lane, GIVEN_BACK);
    return true;
  }

  /** Starts a worker if calls wait for one. */
  check(): void {
    this.#elastic.check();
  }

  /** The thread of a worker has started. */
  onStarted(lane: Lane): void {
    this.#share.add();
    this.#cost.begin(lane);
  }

  #onPhase(lane: Lane, from: Phase): void {
    const { phase } = lane;
    if (phase === "preparing") this.#cost.end(lane);
    else if (from === "preparing" && phase === "open") {
      this.#elastic.onReady();
      this.#share.opened();
    } else if (phase === "closing") {
      // If its thread is given back, it counts no more.
      if (this.#returned.delete(lane)) this.#share.close(lane);
    } else if (phase === "gone") {
      this.#returned.delete(lane);
      this.#share.remove(lane);
    }
  }

  close(): void {
    this.#elastic.close();
    this.#share.leave();
  }
}
