/** What a pool takes from the budget of threads (`thread-budget.ts`), and which of its workers it gives back. */
import { Set } from "../../../../builtins.ts";
import type { Runtime } from "../../../../runtimes/runtime.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";
import { LastProgress } from "../../../../host/lanes/last-progress.ts";
import type { PoolSize } from "../../../../host/workers/feature.ts";
import { type BudgetMember, type BudgetShare, PoolBudget } from "./pool-budget.ts";

/** Time for which a worker has had no call before another pool gets its thread. */
const IDLE_MS = 10;
/** Timers may be early by so much. */
const EARLY_MS = 1;

export interface BudgetUseOptions {
  readonly size: Pick<PoolSize, "minThreads" | "maxThreads">;
  readonly budget?: PoolBudget | undefined;
  readonly share?: PoolSize["share"];
  readonly runtime: Pick<Runtime, "cores" | "now" | "setTimeout">;
  /** Workers that take calls. */
  readonly open: () => readonly Lane[];
  /** Workers that take calls or are starting, and those that wait with their threads. */
  readonly alive: () => number;
  /** Of these, those that are starting. */
  readonly starting: () => number;
  /** Whether calls wait that a further worker would run. */
  readonly isShort: () => boolean;
  readonly start: () => void;
  /** Closes an idle worker. */
  readonly end: (lane: Lane) => void;
  /** Closes a worker when it has answered its calls. */
  readonly drain: (lane: Lane) => void;
}

export class BudgetUse implements BudgetMember {
  readonly share: BudgetShare;
  /** Whether the pool may have fewer workers than `maxThreads`, and starts further ones when calls wait. */
  isElastic: boolean;
  readonly #options: BudgetUseOptions;
  /** The tail of each lane when another pool last wanted a worker. */
  readonly #tails = new LastProgress<number>();
  /** Workers that give their threads back: they answer their last calls, or close. */
  readonly #returned = new Set<Lane>();

  constructor(options: BudgetUseOptions) {
    const { size: { minThreads, maxThreads }, budget, share, runtime } = options;
    this.#options = options;
    this.isElastic = minThreads < maxThreads;
    this.share = (budget ?? PoolBudget.ofThread(runtime.cores))
      .join(this, share ?? { guaranteed: minThreads, isLimited: false }, runtime.now);
  }

  /** Whether a worker may start beside these: any time if no other can take calls, or while it is guaranteed. */
  mayStart(alive: number): boolean {
    const { isShort, open, starting } = this.#options;
    if (alive < this.share.guaranteed) return true;
    if (open().length + starting() === 0) {
      if (!this.share.hasRoom) this.#replaceIdle();
      return true;
    }
    const mayStart = isShort() ? this.share.request() : this.share.hasRoom;
    if (!mayStart) this.isElastic = true;
    return mayStart;
  }

  /** A worker starts beyond the budget: an idle one of another pool closes, now or when it has been idle for a while. */
  #replaceIdle(): void {
    const { share } = this;
    share.budget.takeBack(share, false);
    const later = (): void => {
      if (share.budget.isExceeded) share.budget.takeBack(share, false);
    };
    this.#options.runtime.setTimeout(later, IDLE_MS).unref();
  }

  get wantsThread(): boolean {
    const { isShort, alive, size } = this.#options;
    return isShort() && alive() < size.maxThreads;
  }

  get isReturning(): boolean {
    return this.#returned.size > 0;
  }

  start(): void {
    this.#options.start();
  }

  /** One that has been idle since an earlier look, or the one with the fewest calls. */
  giveBack(mayBeBusy: boolean): boolean {
    const { open, runtime, end, drain, isShort } = this.#options;
    const lanes = open();
    if (lanes.length <= this.share.guaranteed || (!mayBeBusy && isShort())) return false;
    const nowMs = runtime.now();
    const idle = lanes.filter((lane) => {
      const sinceMs = this.#tails.sinceMs(lane, lane.endpoint.tx.tailPosition, nowMs);
      return lane.load.outstanding === 0 && nowMs - sinceMs >= IDLE_MS - EARLY_MS;
    });
    const lane = idle.at(-1) ?? (mayBeBusy ? leastLoaded(lanes) : undefined);
    if (lane === undefined) return false;
    this.isElastic = true;
    this.#returned.add(lane);
    if (lane.load.outstanding === 0) end(lane);
    else drain(lane);
    return true;
  }

  /** A worker closes. If its thread is given back, it counts no more. */
  onClosing(lane: Lane): void {
    if (this.#returned.delete(lane)) this.share.close(lane);
  }

  /** The thread of a worker has ended. */
  onEnded(lane: Lane): void {
    this.#returned.delete(lane);
    this.share.remove(lane);
  }
}

function leastLoaded(lanes: readonly Lane[]): Lane | undefined {
  return lanes.toSorted((one, other) => one.load.outstanding - other.load.outstanding)[0];
}
