/** The feature `scaling` for pools of `heddle/core`. */
import { type Feature, feature } from "../../../api/pool/uses.ts";
import { scaling as added } from "./host.ts";

export { type ThreadBudget, threadBudget, type ThreadBudgetOptions } from "./host/thread-budget.ts";

/** Pools whose number of workers follows the load (`minThreads`, `maxThreads`, `budget`, `minFreeMemory`), and workers that are replaced (`recycleAfter`, `maxWorkerBytes`). For `createPool({ use: [scaling()] })` of `heddle/core`. */
export function scaling(): Feature<"scaling"> {
  return feature(added);
}
