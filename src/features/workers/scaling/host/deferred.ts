/** What is read for the first pool whose workers come and go. */
export { checkBytes, readMemory } from "./memory-options.ts";
export { PoolBudget } from "./pool-budget.ts";
export { PoolSizing } from "./pool-sizing.ts";
export { WorkerRecycling } from "./recycling.ts";
