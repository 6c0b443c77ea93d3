/** The kinds of servers that `main.ts` starts. */
export const ONE_THREAD = "one thread";
/** Each worker of a heddle pool listens on the same port. */
export const LISTENING_WORKERS = "listening workers";
/** The main thread listens, and a heddle pool computes. */
export const OFFLOADING = "offloading";
export const CLUSTER = "cluster";
/** Started by `CLUSTER`. */
export const CLUSTER_PROCESS = "cluster process";
/** The main thread listens, and a pool runs a short task for each request. */
export const SHORT_TASKS = "short tasks";
export const FASTIFY = "fastify";
