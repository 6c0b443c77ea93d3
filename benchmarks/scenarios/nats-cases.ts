/** Names of what `nats` measures. */
export const HEDDLE = "heddle";
/** The machine answers in its event loop. */
export const RAW = "raw NATS";
/** The same, with a pool of one thread behind it by hand. */
export const RAW_POOL = "raw NATS with a pool";
export const CONTENDERS = [HEDDLE, RAW, RAW_POOL] as const;
export const ROUND_TRIP = "echo of 100 characters";
export const THROUGHPUT = "calls of 1 ms to machines of one thread";

/** Calls at once. */
export const AT_ONCE = [1, 100] as const;
/** Worker processes. */
export const MACHINES = [1, 2, 4] as const;
