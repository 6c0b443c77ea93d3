/**
 * A budget of threads that several pools share: a counting semaphore whose permits are threads.
 *
 * Every pool may have its guaranteed threads. It borrows further ones while the budget has room. Without room it waits.
 * Pools that wait are served in turn, those with the fewest threads first. For a pool that waits, the budget has another pool
 * retire an idle worker. If there is none for a while, a pool with more threads drains a busy one.
 *
 * The budget references a pool's supervisor only while the pool has threads, a guarantee or waits, so it keeps no
 * pool alive that could be collected otherwise.
 */
import { Set } from "../../builtins.ts";
import type { Runtime, Timer } from "../../runtimes/runtime.ts";

/** Time between two looks for a thread for the pools that wait. A worker is idle if it had no call between two of them. */
const LOOK_MS = 10;
/**
 * Minimum wait of a pool before another pool has to drain a busy worker for it, and minimum time for which a pool keeps a new
 * worker. Several times as long as a start.
 */
const SHARE_MS = 200;

/** A pool as its budget sees it. */
export interface BudgetMember {
  /** Whether calls wait for a further thread that the pool may have. */
  readonly wantsThread: boolean;
  /** Starts a thread. */
  start(): void;
  /** Retires a worker that is idle, or, if `mayBeBusy`, one that finishes its calls. False: it keeps all. */
  giveBack(mayBeBusy: boolean): boolean;
}

/** What a pool may have of a budget. */
export interface ShareLimits {
  /** Threads that it may have at any time. */
  readonly guaranteed: number;
  /** Whether the budget limits the threads beyond. Otherwise they only count. */
  readonly isLimited: boolean;
}

/** The option `budget`. `threadBudget()` makes it, and checks the number. */
export class PoolBudget {
  static #ofThread: PoolBudget | undefined;

  /** Maximum number of threads of all pools together, beyond which pools get only their guaranteed ones. */
  readonly max: number;
  readonly #shares = new Set<BudgetShare>();
  #queue: BudgetShare[] = [];
  #timer: Timer | undefined;

  constructor(max: number) {
    this.max = max;
  }

  /** The budget of this thread's pools that name no other. */
  static ofThread(cores: number): PoolBudget {
    return PoolBudget.#ofThread ??= new PoolBudget(cores);
  }

  /** Threads that have not ended, of all pools. */
  get threads(): number {
    let threads = 0;
    for (const { held } of this.#shares) threads += held;
    return threads;
  }

  /** Pools whose calls wait for a thread. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** Whether a pool may start a thread that is not guaranteed to it. Guaranteed threads that are not there count as well. */
  get hasRoom(): boolean {
    let reserved = 0;
    for (const { held, guaranteed } of this.#shares) reserved += Math.max(held, guaranteed);
    return reserved < this.max;
  }

  /** Threads that the other pools never give back. */
  keptBeside(share: BudgetShare): number {
    let kept = 0;
    for (const other of this.#shares) if (other !== share) kept += other.kept;
    return kept;
  }

  /** Adds a pool. */
  join(
    member: BudgetMember,
    limits: ShareLimits,
    runtime: Pick<Runtime, "now" | "setTimeout">,
  ): BudgetShare {
    return new BudgetShare(this, member, limits, runtime);
  }

  /** Keeps a pool while it counts. */
  update(share: BudgetShare): void {
    if (share.held > 0 || share.guaranteed > 0) this.#shares.add(share);
    else this.#shares.delete(share);
  }

  /** The pool waits for its turn. */
  enqueue(share: BudgetShare): void {
    if (this.#queue.includes(share)) return;
    share.waitsSinceMs = share.runtime.now();
    this.#queue.push(share);
    this.#takeBack();
    this.#look(share);
  }

  /** The pool no longer waits. */
  dequeue(share: BudgetShare): void {
    this.#queue = this.#queue.filter((other) => other !== share);
  }

  /** Starts threads for the pools that wait, while there is room. */
  serve(): void {
    while (this.#queue.length > 0 && this.hasRoom) {
      const held = Math.min(...this.#queue.map((share) => share.held));
      const next = this.#queue.find((share) => share.held === held)!;
      this.dequeue(next);
      if (next.member.wantsThread) next.member.start();
    }
  }

  /** Looks again after a while, as long as a pool waits. */
  #look({ runtime }: BudgetShare): void {
    this.#timer ??= runtime.setTimeout(() => {
      this.#timer = undefined;
      this.#queue = this.#queue.filter(({ member }) => member.wantsThread);
      this.serve();
      const [next] = this.#queue;
      if (next === undefined) return;
      this.#takeBack();
      this.#look(next);
    }, LOOK_MS);
    this.#timer.unref();
  }

  /** Has a worker retired for each pool that waits. */
  #takeBack(): void {
    let missing = this.#queue.length;
    for (const { retiring } of this.#shares) missing -= retiring;
    for (const asker of this.#queue.slice(0, Math.max(0, missing))) {
      if (!this.#takeFor(asker, false)) this.#takeFor(asker, true);
    }
  }

  #takeFor(asker: BudgetShare, mayBeBusy: boolean): boolean {
    const nowMs = asker.runtime.now();
    if (mayBeBusy && nowMs - asker.waitsSinceMs < SHARE_MS) return false;
    const donors = [...this.#shares].filter((donor) =>
      donor !== asker && donor.borrowed > 0 && (!mayBeBusy || donor.owes(asker, nowMs))
    );
    donors.sort((one, other) => other.borrowed - one.borrowed);
    const donor = donors.find((donor) => donor.giveBack(mayBeBusy));
    if (donor === undefined) return false;
    if (this.#queue.includes(donor)) {
      this.dequeue(donor);
      this.#queue.push(donor); // others come before it
    }
    return true;
  }
}

/** The part of a pool in a budget. */
export class BudgetShare {
  /** Threads that have not ended. */
  held = 0;
  /** Threads among `held` that end so that other pools get theirs. */
  retiring = 0;
  waitsSinceMs = 0;
  guaranteed: number;
  readonly budget: PoolBudget;
  readonly member: BudgetMember;
  readonly runtime: Pick<Runtime, "now" | "setTimeout">;
  readonly #isLimited: boolean;
  /** When its newest worker began to take calls. */
  #openedMs = -Infinity;

  constructor(
    budget: PoolBudget,
    member: BudgetMember,
    { guaranteed, isLimited }: ShareLimits,
    runtime: Pick<Runtime, "now" | "setTimeout">,
  ) {
    this.budget = budget;
    this.member = member;
    this.guaranteed = guaranteed;
    this.#isLimited = isLimited;
    this.runtime = runtime;
    budget.update(this);
  }

  /** Threads beyond the guaranteed ones. */
  get borrowed(): number {
    return this.held - this.retiring - this.guaranteed;
  }

  get hasRoom(): boolean {
    return !this.#isLimited || this.budget.hasRoom;
  }

  /** Threads that it does not give back. */
  get kept(): number {
    return this.#isLimited ? this.guaranteed : Math.max(this.held, this.guaranteed);
  }

  /** Whether it may have a further thread at some time: one that is free, or that another pool gives back. */
  get canGrow(): boolean {
    return !this.#isLimited || this.held < this.guaranteed ||
      this.held + this.budget.keptBeside(this) < this.budget.max;
  }

  /** Whether a thread beyond the guaranteed ones may start now. False: the pool waits until it is granted one. */
  request(): boolean {
    if (!this.#isLimited) return true;
    this.budget.serve(); // those that wait come first
    if (this.budget.hasRoom) return true;
    this.budget.enqueue(this);
    return false;
  }

  /** A thread has started. */
  add(): void {
    this.held++;
    this.budget.update(this);
  }

  /** A worker takes calls from now on. */
  opened(): void {
    this.#openedMs = this.runtime.now();
  }

  /** A thread has ended. */
  remove(): void {
    this.held--;
    if (this.retiring > 0) this.retiring--;
    this.budget.update(this);
    this.budget.serve();
  }

  /** The pool closes: it keeps only what has not ended. */
  leave(): void {
    this.guaranteed = 0;
    this.budget.dequeue(this);
    this.budget.update(this);
    this.budget.serve();
  }

  /** Whether it has so many threads that `asker` should have one of them, though all have calls. */
  owes(asker: BudgetShare, nowMs: number): boolean {
    const kept = asker.held === 0 ? asker.held : asker.held + 1;
    return this.#isLimited && this.held - this.retiring > kept &&
      nowMs - this.#openedMs >= SHARE_MS;
  }

  giveBack(mayBeBusy: boolean): boolean {
    if (!this.member.giveBack(mayBeBusy)) return false;
    this.retiring++;
    return true;
  }
}
