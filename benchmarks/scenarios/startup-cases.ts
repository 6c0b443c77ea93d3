/** Names of what `startup` measures: runs and charts tell them apart. */
export const IMPORT = "import";
export const READY = "first pool ready";
export const FIRST_CALL = "first call";
export const ONE_MORE = "one more worker";
export const MEMORY = "memory per worker";

/** Workers among which the growth of the process is divided. */
export const MEMORY_WORKERS = 4;
