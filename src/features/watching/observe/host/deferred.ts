/** What is read for the first pool that is watched. */
export { checkContext, checkDebug, checkOutput, debugOf } from "./observe-options.ts";
export { createFollower, observe } from "./parts.ts";
export { PoolListeners } from "./pool-events.ts";
export { readStatistics } from "./pool-statistics.ts";
