/**
 * A budget of threads that several pools share: a counting semaphore whose permits are threads.
 *
 * A pool with a call to run has at least one thread that is not blocked, and its guaranteed ones, whatever the budget. The budget
 * decides about further ones: a pool asks again and again while its calls wait. Free threads go to the pools with the fewest. If
 * none is free, another pool closes an idle worker; if there is none for a while, one with more threads drains a busy one.
 *
 * The budget references a pool's supervisor only while the pool has threads or a guarantee, so it keeps no
 * pool alive that could be collected otherwise.
 */
import { Set } from "../../../../builtins.ts";
import type { ShareLimits } from "../../../../host/workers/feature.ts";
import { type FixedPool, fixedPools } from "./fixed-pools.ts";

export type { ShareLimits };

/**
 * Minimum wait of a pool before another pool has to drain a busy worker for it, and minimum time for which a pool keeps a new
 * worker. Several times as long as a start.
 */
const SHARE_MS = 200;

/** A pool as its budget sees it. */
export interface BudgetMember {
  /** Whether calls wait for a further thread that the pool may have. */
  readonly wantsThread: boolean;
  /** Whether a worker is about to give its thread back. */
  readonly isReturning: boolean;
  /** Starts a thread. */
  start(): void;
  /** Retires a worker that is idle, or, if `mayBeBusy`, one that finishes its calls. False: it keeps all. */
  giveBack(mayBeBusy: boolean): boolean;
}

/** The budget of pools that name none. */
let budgetOfThread: PoolBudget | undefined;

/** The option `budget`. `threadBudget()` makes it, and checks the number. */
export class PoolBudget {
  /** Number of threads of all pools together beyond which a pool gets only its guaranteed ones, or a single one. */
  readonly max: number;
  readonly #shares = new Set<BudgetShare>();
  readonly #fixed: ReadonlySet<WeakRef<FixedPool>>;

  constructor(max: number, fixed: ReadonlySet<WeakRef<FixedPool>> = new Set()) {
    this.max = max;
    this.#fixed = fixed;
  }

  /** The budget of this thread's pools that name no other. */
  static ofThread(cores: number): PoolBudget {
    return budgetOfThread ??= new PoolBudget(cores, fixedPools);
  }

  /** Threads that have not ended, of all pools. */
  get threads(): number {
    let threads = 0;
    for (const { threads: own } of this.#shares) threads += own;
    for (const pool of this.#fixed) threads += pool.deref()?.threadCount ?? 0;
    return threads;
  }

  /** Pools whose calls wait for a thread. */
  get waiting(): number {
    return this.#waiting.length;
  }

  get #waiting(): BudgetShare[] {
    return [...this.#shares].filter(({ isWaiting }) => isWaiting);
  }

  /** Whether a pool may start a thread that is not guaranteed to it. Guaranteed threads that are not there count as well. */
  get hasRoom(): boolean {
    return this.#reserved < this.max;
  }

  get isExceeded(): boolean {
    return this.#reserved > this.max;
  }

  get #reserved(): number {
    let reserved = 0;
    for (const { held, guaranteed } of this.#shares) reserved += Math.max(held, guaranteed);
    for (const ref of this.#fixed) {
      const pool = ref.deref();
      if (pool === undefined) continue;
      reserved += Math.max(pool.threadCount, pool.isClosing ? 0 : pool.size.minThreads);
    }
    return reserved;
  }

  /** Adds a pool. */
  join(member: BudgetMember, limits: ShareLimits, now: () => number): BudgetShare {
    return new BudgetShare(this, member, limits, now);
  }

  /** Keeps a pool while it counts. */
  update(share: BudgetShare): void {
    if (share.threads > 0 || share.guaranteed > 0) this.#shares.add(share);
    else this.#shares.delete(share);
  }

  /** Starts threads for the pools that wait, those with the fewest first, while there is room. True: `asker` starts one. */
  grant(asker: BudgetShare): boolean {
    while (this.hasRoom || this.takeBack(asker, false)) {
      const others = this.#waiting.filter(({ held }) => held < asker.held);
      const next = others.toSorted((one, other) => one.held - other.held)[0] ?? asker;
      next.waitsSinceMs = undefined;
      if (next === asker) return true;
      next.member.start();
    }
    this.takeBack(asker, true);
    return false;
  }

  /** Has a worker of another pool retired, if `mayBeBusy` when it has finished its calls. True: one retires. */
  takeBack(asker: BudgetShare, mayBeBusy: boolean): boolean {
    const nowMs = asker.now();
    const isDue = !mayBeBusy || nowMs - asker.waitsSinceMs! >= SHARE_MS;
    // One at a time: whoever has the fewest threads gets it.
    const isComing = mayBeBusy && [...this.#shares].some(({ member }) => member.isReturning);
    if (!isDue || isComing) return false;
    return [...this.#shares]
      .filter((donor) =>
        donor !== asker && donor.borrowed > 0 && (!mayBeBusy || donor.owes(asker, nowMs))
      )
      .toSorted((one, other) => other.borrowed - one.borrowed)
      .some(({ member }) => member.giveBack(mayBeBusy));
  }
}

/** The part of a pool in a budget. */
export class BudgetShare {
  /** Threads that have not ended. */
  threads = 0;
  /** Since when the pool has waited for a thread that it was refused. */
  waitsSinceMs: number | undefined;
  guaranteed: number;
  readonly budget: PoolBudget;
  readonly member: BudgetMember;
  readonly now: () => number;
  readonly #isLimited: boolean;
  /** Workers that close so that other pools get their threads: they are replaced at once. */
  readonly #closing = new Set<object>();
  /** When it last asked for a thread. */
  #askedMs = -Infinity;
  /** When its newest worker began to take calls. */
  #openedMs = -Infinity;

  constructor(
    budget: PoolBudget,
    member: BudgetMember,
    { guaranteed, isLimited }: ShareLimits,
    now: () => number,
  ) {
    this.budget = budget;
    this.member = member;
    this.guaranteed = guaranteed;
    this.#isLimited = isLimited;
    this.now = now;
    budget.update(this);
  }

  /** Threads that it has not given back. */
  get held(): number {
    return this.threads - this.#closing.size;
  }

  /** Threads beyond the guaranteed ones. */
  get borrowed(): number {
    return this.held - this.guaranteed;
  }

  get hasRoom(): boolean {
    return !this.#isLimited || this.budget.hasRoom;
  }

  get isWaiting(): boolean {
    return this.waitsSinceMs !== undefined && this.member.wantsThread;
  }

  /** Whether a further thread may start now. False: the pool asks again, or gets one when another pool asks. */
  request(): boolean {
    if (!this.#isLimited) return true;
    const nowMs = this.now();
    // It asks again and again while its calls wait. After a pause it begins to wait anew.
    if (this.waitsSinceMs === undefined || nowMs - this.#askedMs >= SHARE_MS) {
      this.waitsSinceMs = nowMs;
    }
    this.#askedMs = nowMs;
    return this.budget.grant(this);
  }

  /** A thread has started. */
  add(): void {
    this.threads++;
    this.budget.update(this);
  }

  /** A worker takes calls from now on. */
  opened(): void {
    this.#openedMs = this.now();
  }

  /** A worker closes so that another pool gets its thread. */
  close(worker: object): void {
    this.#closing.add(worker);
  }

  /** The thread of a worker has ended. */
  remove(worker: object): void {
    this.threads--;
    this.#closing.delete(worker);
    this.budget.update(this);
  }

  /** The pool closes: it keeps only what has not ended. */
  leave(): void {
    this.guaranteed = 0;
    this.waitsSinceMs = undefined;
    this.budget.update(this);
  }

  /** Whether it has so many threads that `asker` should have one of them, though all have calls. */
  owes(asker: BudgetShare, nowMs: number): boolean {
    return this.#isLimited && this.held > asker.held + 1 && nowMs - this.#openedMs >= SHARE_MS;
  }
}
