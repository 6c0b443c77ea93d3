/** Pools of a fixed number of threads: nothing limits them, but they count where several pools share a budget of threads. */
import { Set } from "../../builtins.ts";

export interface FixedPool {
  /** Threads that have not ended. */
  readonly threadCount: number;
  /** Threads that it may have at any time. */
  readonly guaranteed: number;
}

/** Those of this thread, until they are closed and their threads have ended. */
export const fixedPools: Set<FixedPool> = new Set();
