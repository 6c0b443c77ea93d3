/** Names of what `burst` measures: runs, tables and charts tell them apart. */
export const BURST_CASE = "f64 echo";
export const TIMER_CASE = "1 ms timer meanwhile";
export const BURST_SIZES = [1000, 10_000, 100_000] as const;
/** Calls at once while a timer runs; 1: one after the other. */
export const TIMER_SIZES = [1, 100_000] as const;
