/** Names of what `contended` measures: runs, tables and charts tell them apart. */
export const BUSY = "busy process beside";
export const ONE_CORE = "all threads on one core";
export const PLACEMENTS = [BUSY, ONE_CORE] as const;

export const AT_ONCE = "calls at once";
export const EVERY = "one call every 3 ms";
export const EVERY_MS = 3;
export const SIZES = [1, 20] as const;

export const caseOf = (placement: string, what: string): string => `${placement}: ${what}`;
/** The processor time that goes with a case. */
export const cpuOf = (name: string): string => `processor time, ${name}`;
