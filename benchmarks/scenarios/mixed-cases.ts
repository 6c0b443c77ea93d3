/** Names of what `mixed-load` measures: runs, tables and charts tell them apart. */
export const ALONE = "alone";
export const BESIDE_LONG = "beside long tasks";

export const MICRO_CASES = ["void call", "f64 echo"] as const;
export const LONG_LATENESS = "lateness of 100 ms tasks";
export const LAST_MICRO = "last of 1,000 micro-tasks";
export const LONG_TASK = "200 ms task called before them";
