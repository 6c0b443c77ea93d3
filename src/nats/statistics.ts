/** The public counters of callers and machines. */
import type { PoolStatistics } from "../api/observe/pool-statistics.ts";

/** A snapshot of the counters of a pool of machines. */
export interface RemotePoolStatistics {
  /** Calls not settled yet. */
  readonly inFlight: number;
  /** Of those, calls that are not on their way: no connection yet, pending arguments, or refused by busy machines. */
  readonly queued: number;
  /** Machines that have answered lately. */
  readonly machines: number;
  readonly machinesLost: number;
  /** Calls that resolved, and calls that rejected for any reason. */
  readonly completed: number;
  readonly failed: number;
  /** Calls repeated after a loss (option `idempotent`). */
  readonly retried: number;
  readonly timedOut: number;
  readonly aborted: number;
  /** Answers to calls that had settled before. */
  readonly lateResponses: number;
}

/** The counters of the calls of a machine. */
export interface MachineStatistics {
  readonly inFlight: number;
  readonly completed: number;
  readonly failed: number;
  /** Calls sent back because of `maxInFlight`. */
  readonly refused: number;
  /** Mean time from receipt to response, in milliseconds. */
  readonly averageMs: number;
}

/** The counters of a machine and of its pool. */
export interface ServerStatistics extends MachineStatistics {
  readonly pool: PoolStatistics;
}
