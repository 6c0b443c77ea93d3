/** What a pool takes from the budget of threads (`thread-budget.ts`), and which of its workers it gives back. */
import { Set } from "../../builtins.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import type { Lane } from "../lanes/lane.ts";
import { LastProgress } from "../lanes/last-progress.ts";
import type { PoolSize } from "./pool-size.ts";
import { type BudgetMember, type BudgetShare, PoolBudget } from "./thread-budget.ts";

export interface BudgetUseOptions {
  readonly size: PoolSize;
  readonly runtime: Pick<Runtime, "cores" | "now" | "setTimeout">;
  /** Workers that take calls. */
  readonly open: () => readonly Lane[];
  /** Workers that take calls or are starting. */
  readonly alive: () => number;
  /** Whether calls wait that a further worker would run. */
  readonly isShort: () => boolean;
  /** Whether the pool starts no worker now: it closes, or a replacement is delayed. */
  readonly isPaused: () => boolean;
  readonly start: () => void;
  /** Closes an idle worker. */
  readonly retire: (lane: Lane) => void;
  /** Closes a worker when it has answered its calls. */
  readonly drain: (lane: Lane) => void;
}

export class BudgetUse implements BudgetMember {
  readonly share: BudgetShare;
  /** Whether the pool may have fewer workers than `maxThreads`, and starts further ones when calls wait. */
  isElastic: boolean;
  readonly #options: BudgetUseOptions;
  /** The tail of each lane when the budget last wanted a worker. */
  readonly #tails = new LastProgress<number>();
  readonly #returned = new Set<Lane>();

  constructor(options: BudgetUseOptions) {
    const { minThreads, maxThreads, budget, share } = options.size;
    this.#options = options;
    this.isElastic = minThreads < maxThreads;
    const { runtime } = options;
    this.share = (budget ?? PoolBudget.ofThread(runtime.cores))
      .join(this, share ?? { guaranteed: minThreads, isLimited: false }, runtime);
  }

  /** Whether a worker may be one of the first, of which there are so many so far. */
  mayBeFirst(started: number): boolean {
    const mayStart = started < this.share.guaranteed || this.share.hasRoom;
    if (!mayStart) this.isElastic = true;
    return mayStart;
  }

  /** Whether a worker may start beside these. If not and calls wait, the budget starts one when the pool's turn has come. */
  mayStart(alive: number): boolean {
    if (alive < this.share.guaranteed) return true;
    const mayStart = this.#options.isShort() ? this.share.request() : this.share.hasRoom;
    if (!mayStart) this.isElastic = true;
    return mayStart;
  }

  get wantsThread(): boolean {
    const { isPaused, isShort, alive, size } = this.#options;
    return !isPaused() && isShort() && alive() < size.maxThreads;
  }

  start(): void {
    this.#options.start();
  }

  /** One that had no call since the budget last wanted one, or the one with the fewest calls. */
  giveBack(mayBeBusy: boolean): boolean {
    const { open, runtime, retire, drain, isShort } = this.#options;
    const lanes = open();
    if (lanes.length <= this.share.guaranteed || (!mayBeBusy && isShort())) return false;
    const nowMs = runtime.now();
    const idle = lanes.filter((lane) => {
      const sinceMs = this.#tails.sinceMs(lane, lane.endpoint.tx.tailPosition, nowMs);
      return lane.load.outstanding === 0 && sinceMs < nowMs;
    });
    const lane = idle.at(-1) ?? (mayBeBusy ? leastLoaded(lanes) : undefined);
    if (lane === undefined) return false;
    this.isElastic = true;
    this.#returned.add(lane);
    if (lane.load.outstanding === 0) retire(lane);
    else drain(lane);
    return true;
  }

  /** Forgets a worker that closes or has ended. True: another pool gets its thread. */
  takeReturned(lane: Lane): boolean {
    return this.#returned.delete(lane);
  }
}

function leastLoaded(lanes: readonly Lane[]): Lane | undefined {
  return lanes.toSorted((one, other) => one.load.outstanding - other.load.outstanding)[0];
}
