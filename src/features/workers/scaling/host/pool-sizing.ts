/** How many workers a pool has: between its limits by load (`autoscaler.ts`), within its budget (`budget-use.ts`). */
import type { Lane } from "../../../../host/lanes/lane.ts";
import type { Phase } from "../../../../host/lanes/phase.ts";
import { Autoscaler } from "./autoscaler.ts";
import { BudgetUse } from "./budget-use.ts";
import { StartCost } from "./start-cost.ts";
import type { Sizing, Workers } from "../../../../host/workers/feature.ts";
import type { WorkerRecycling } from "./recycling.ts";
import type { PoolBudget } from "./pool-budget.ts";

/** Why a worker ends whose thread another pool gets. */
const GIVEN_BACK = "another pool gets its thread";

export class PoolSizing implements Sizing {
  readonly #elastic: Autoscaler;
  readonly #budget: BudgetUse;
  readonly #cost: StartCost;

  constructor(workers: Workers) {
    const { size, runtime, dispatcher } = workers;
    const { lanes, phases } = dispatcher;
    const start = (): void => {
      if (this.mayStart(workers.alive)) workers.startOrReplaceLater();
    };
    const cost = this.#cost = new StartCost(runtime.now);
    this.#elastic = new Autoscaler({
      size,
      runtime,
      lanes: () => lanes.open,
      alive: () => workers.alive + workers.delayed,
      isBackingOff: () => workers.delayed > 0,
      hasWorker: () => lanes.open.length > 0 || workers.starting > 0,
      starting: () => workers.starting,
      startable: () => dispatcher.startable,
      isWorthStart: (waitedMs) => cost.isWorth(dispatcher.backlogMs, workers.alive, waitedMs),
      start,
      end: (lane) => phases.end(lane, "it was idle"),
    });
    this.#budget = new BudgetUse({
      size,
      budget: size.budget as PoolBudget | undefined,
      share: size.share,
      runtime,
      open: () => lanes.open,
      alive: () => workers.alive,
      starting: () => workers.starting,
      isShort: () => dispatcher.startable.count > workers.starting,
      start: () => {
        workers.startOrReplaceLater();
        this.check();
      },
      end: (lane) => phases.end(lane, GIVEN_BACK),
      drain: (lane) => (workers.recycling as WorkerRecycling).drain(lane, GIVEN_BACK),
    });
    lanes.watch((lane, from) => this.#onPhase(lane, from));
  }

  get isElastic(): boolean {
    return this.#budget.isElastic;
  }

  mayStart(alive: number): boolean {
    return this.#budget.mayStart(alive);
  }

  /** Starts a worker if calls wait for one. */
  check(): void {
    this.#elastic.check();
  }

  /** The thread of a worker has started. */
  onStarted(lane: Lane): void {
    this.#budget.share.add();
    this.#cost.begin(lane);
  }

  #onPhase(lane: Lane, from: Phase): void {
    const { phase } = lane;
    if (phase === "preparing") this.#cost.end(lane);
    else if (from === "preparing" && phase === "open") {
      this.#elastic.onReady();
      this.#budget.share.opened();
    } else if (phase === "closing") this.#budget.onClosing(lane);
    else if (phase === "gone") this.#budget.onEnded(lane);
  }

  close(): void {
    this.#elastic.close();
    this.#budget.share.leave();
  }
}
