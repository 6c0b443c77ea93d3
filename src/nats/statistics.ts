/** The public counters of callers and machines. */
import type { PoolStatistics } from "../features/watching/observe/host/pool-statistics.ts";

/** A snapshot of the counters of a pool of machines. */
export interface RemotePoolStatistics {
  /** Calls not settled yet. */
  readonly inFlight: number;
  /** Of those, calls that are not on their way: no connection yet, pending arguments, or refused by busy machines. */
  readonly queued: number;
  /** Machines that have answered lately. */
  readonly machines: number;
  /** Machines that did not answer for `lostAfterMs`. */
  readonly machinesLost: number;
  /** Calls that resolved. */
  readonly completed: number;
  /** Calls that rejected for any reason. */
  readonly failed: number;
  /** Calls repeated after a loss (option `retries`). */
  readonly retried: number;
  /** Calls whose time limit expired. */
  readonly timedOut: number;
  /** Calls aborted by a signal or by `reject()`. */
  readonly aborted: number;
  /** Answers to calls that had settled before. */
  readonly lateResponses: number;
}

/** The counters of the calls of a machine. */
export interface MachineStatistics {
  /** Calls not answered yet. */
  readonly inFlight: number;
  /** Calls that resolved. */
  readonly completed: number;
  /** Calls that rejected for any reason. */
  readonly failed: number;
  /** Calls sent back because of `maxInFlight`. */
  readonly refused: number;
  /** Mean time from receipt to response, in milliseconds. */
  readonly averageMs: number;
}

/** The counters of a machine and of its pool. */
export interface ServerStatistics extends MachineStatistics {
  /** The counters of its local pool. */
  readonly pool: PoolStatistics;
}
