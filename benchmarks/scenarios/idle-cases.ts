/** Names of what `idle-cost` measures: runs and charts tell them apart. */
export const IDLE = "idle, whole process";
export const AWAITING = "awaiting 100 ms tasks, host thread";
