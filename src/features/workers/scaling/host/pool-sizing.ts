/** How many workers a pool has: between its limits by load (`autoscaler.ts`), within its budget (`budget-use.ts`). */
import type { Runtime } from "../../../../runtimes/runtime.ts";
import type { Dispatcher } from "../../../../host/dispatch/dispatcher.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";
import type { Phase } from "../../../../host/lanes/phase.ts";
import { Autoscaler } from "./autoscaler.ts";
import { BudgetUse } from "./budget-use.ts";
import { StartCost } from "./start-cost.ts";
import type { PoolSize } from "../../../../host/workers/pool-size.ts";
import type { PoolBudget } from "./pool-budget.ts";

/** The workers of a pool, as `Workers` has them. */
export interface SizedWorkers {
  /** Its limits at present. */
  readonly size: PoolSize;
  readonly runtime: Runtime;
  readonly dispatcher: Pick<Dispatcher, "lanes" | "phases" | "startable" | "backlogMs">;
  /** Workers that take calls or are starting. */
  readonly alive: number;
  /** Of these, those that are starting. */
  readonly starting: number;
  /** Replacements that are delayed: no other worker is started meanwhile. */
  readonly delayed: number;
  startOrReplaceLater(): void;
}

/** Why a worker ends whose thread another pool gets. */
const GIVEN_BACK = "another pool gets its thread";

export class PoolSizing {
  readonly #elastic: Autoscaler;
  readonly #budget: BudgetUse;
  readonly #cost: StartCost;

  /** `drain` closes a worker, for this reason, when it has answered its calls. */
  constructor(workers: SizedWorkers, drain: (lane: Lane, reason: string) => void) {
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
      drain: (lane) => drain(lane, GIVEN_BACK),
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
