/** Names of what `soak` measures: runs and charts tell them apart. */
export const ECHO = "f64 echo";
export const MIXED = "mixed batch";
export const MEMORY = "resident memory";
