/** How many workers a pool has: between its limits by load (`autoscaler.ts`), within its budget (`budget-use.ts`). */
import type { Runtime } from "../../runtimes/runtime.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { Lane } from "../lanes/lane.ts";
import { Autoscaler } from "./autoscaler.ts";
import { BudgetUse } from "./budget-use.ts";
import { StartCost } from "./start-cost.ts";
import type { PoolSize } from "./pool-size.ts";

export interface PoolSizingOptions {
  /** Its limits at present. */
  readonly size: Pick<PoolSize, "minThreads" | "maxThreads" | "idleTimeoutMs">;
  /** Undefined: it only counts in the budget of its thread, as a pool of fixed size (`fixedPools`). */
  readonly shared: Pick<PoolSize, "budget" | "share"> | undefined;
  readonly runtime: Runtime;
  readonly dispatcher: Pick<Dispatcher, "lanes" | "startable" | "backlogMs">;
  /** Workers that take calls or are starting. */
  readonly alive: () => number;
  /** Of these, those that are starting. */
  readonly starting: () => number;
  /** Replacements that are delayed: no other worker is started meanwhile. */
  readonly delayed: () => number;
  readonly start: () => void;
  /** Closes an idle worker. */
  readonly retire: (lane: Lane) => void;
  /** Closes a worker when it has answered its calls. */
  readonly drain: (lane: Lane) => void;
}

export class PoolSizing {
  readonly budget: BudgetUse | undefined;
  readonly #elastic: Autoscaler;
  readonly #cost: StartCost;

  constructor(options: PoolSizingOptions) {
    const { size, shared, runtime, dispatcher, alive, starting, delayed, retire, drain } = options;
    const start = (): void => {
      if (this.budget?.mayStart(alive()) !== false) options.start();
    };
    const cost = this.#cost = new StartCost(runtime.now);
    const elastic = this.#elastic = new Autoscaler({
      size,
      runtime,
      lanes: () => dispatcher.lanes.open,
      alive: () => alive() + delayed(),
      isBackingOff: () => delayed() > 0,
      hasWorker: () => dispatcher.lanes.open.length > 0 || starting() > 0,
      starting,
      startable: () => dispatcher.startable,
      isWorthStart: (waitedMs) => cost.isWorth(dispatcher.backlogMs, alive(), waitedMs),
      start,
      retire,
    });
    if (shared === undefined) return;
    this.budget = new BudgetUse({
      size,
      budget: shared.budget,
      share: shared.share,
      runtime,
      open: () => dispatcher.lanes.open,
      alive,
      starting,
      isShort: () => dispatcher.startable.count > starting(),
      start: () => {
        options.start();
        elastic.check();
      },
      retire,
      drain,
    });
  }

  /** Starts a worker if calls wait for one. */
  check(): void {
    this.#elastic.check();
  }

  /** The thread of a worker has started. */
  onStarted(lane: Lane): void {
    this.budget?.share.add();
    this.#cost.begin(lane);
  }

  /** A worker has loaded its tasks. */
  onReady(lane: Lane): void {
    this.#cost.end(lane);
  }

  /** A worker takes calls from now on. */
  onOpened(): void {
    this.#elastic.onReady();
    this.budget?.share.opened();
  }

  /** The thread of a worker has ended. */
  onEnded(lane: Lane): void {
    this.budget?.onEnded(lane);
  }

  close(): void {
    this.#elastic.close();
    this.budget?.share.leave();
  }
}
