/** `threadBudget()`: threads that several pools share. */
import * as deferred from "./deferred.ts";
import { InvalidArgumentError } from "../../../../errors.ts";
import { checkInteger, checkKeys, isRecord, ownOf, show } from "../../../../option-checks.ts";

/** A budget of threads that pools of one thread share by the option `budget`. `threadBudget` makes it. */
export interface ThreadBudget {
  /** Number of threads of all its pools together beyond which a pool gets only its guaranteed ones, or a single one. */
  readonly max: number;
  /** Threads of its pools that have not ended. Exact. */
  readonly threads: number;
  /** Pools with calls that wait for a further thread of the budget. */
  readonly waiting: number;
}

/** Options of `threadBudget`. */
export interface ThreadBudgetOptions {
  /**
   * Number of threads of all pools of the budget together beyond which a pool gets only its guaranteed ones, or a single one
   * while it has calls to run: an integer from 1.
   */
  readonly max: number;
}

/** Far more threads than cores are probably a mistake. */
const MAX_THREADS = 1024;

/**
 * A budget of threads that several pools of this thread share by the option `budget`. Pools borrow threads as their calls
 * wait and give idle ones back. The `minThreads` of each are guaranteed, also beyond `max`, and so is one thread while it has
 * calls to run. Throws InvalidArgumentError.
 *
 * @example
 * ```ts
 * import { createPool, threadBudget } from "heddle";
 *
 * const budget = threadBudget({ max: 4 });
 * const images = createPool({ budget })(new URL("../../../../api/options/images.ts", import.meta.url));
 * const reports = createPool({ budget, minThreads: 0 })(new URL("../../../../api/options/reports.ts", import.meta.url));
 * ```
 */
export function threadBudget(options: ThreadBudgetOptions): ThreadBudget {
  if (!isRecord(options)) {
    throw new InvalidArgumentError(`threadBudget() takes { max }, got ${show(options)}.`);
  }
  checkKeys("threadBudget()", options, ["max"]);
  const { max } = ownOf<ThreadBudgetOptions>(options);
  return new deferred.PoolBudget(checkInteger("max", max, 1, MAX_THREADS));
}
