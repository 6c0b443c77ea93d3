/** How many workers a pool may have. */
import type { PoolBudget, ShareLimits } from "./thread-budget.ts";

/** Limits of the number of workers, of their idle time, and of abandoned threads. */
export interface PoolSize {
  /** Undefined: that of the thread. */
  readonly budget?: PoolBudget | undefined;
  /** Its part in the budget. Default: `minThreads`, and no limit beyond. */
  readonly share?: ShareLimits;
  readonly minThreads: number;
  readonly maxThreads: number;
  readonly idleTimeoutMs: number;
  readonly maxAbandonedThreads: number;
}
