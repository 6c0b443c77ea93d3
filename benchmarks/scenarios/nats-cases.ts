/** Names of what `nats` measures. */
export const RAW = "raw NATS";
export const ROUND_TRIP = "echo of 100 characters";
export const THROUGHPUT = "calls of 1 ms to machines of one thread";

/** Calls at once. */
export const AT_ONCE = [1, 100] as const;
/** Worker processes. */
export const MACHINES = [1, 2, 4] as const;
