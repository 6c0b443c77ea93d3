/** How many workers a pool may have. */

/** What a pool may have of a budget of threads. */
export interface ShareLimits {
  /** Threads that it may have at any time. */
  readonly guaranteed: number;
  /** Whether the budget limits the threads beyond. Otherwise they only count. */
  readonly isLimited: boolean;
}

/** Limits of the number of workers, of their idle time, and of abandoned threads. */
export interface PoolSize {
  /** A `PoolBudget`. Undefined: that of the thread. */
  readonly budget?: object | undefined;
  /** Its part in the budget. Default: `minThreads`, and no limit beyond. */
  readonly share?: ShareLimits;
  readonly minThreads: number;
  readonly maxThreads: number;
  readonly idleTimeoutMs: number;
  /** Undefined: as many as there are cores. */
  readonly maxAbandonedThreads?: number;
}
