/** What a load finds out about a server. */
import { quantileSorted } from "simple-statistics";

/** Of one run. Latencies in milliseconds. */
export interface LoadFigures {
  readonly perSecond: number;
  readonly meanMs: number;
  readonly p99Ms: number;
  readonly p50Ms?: number;
  /** Processor time of the server for each request. */
  readonly cpuUs?: number;
  /** How many were answered. */
  readonly count: number;
}

export function figuresOf(latenciesMs: readonly number[], seconds: number): LoadFigures {
  const sorted = Float64Array.from(latenciesMs).sort() as unknown as number[];
  const count = sorted.length;
  if (count === 0) throw new Error("nothing was answered");
  return {
    perSecond: count / seconds,
    meanMs: latenciesMs.reduce((sum, each) => sum + each, 0) / count,
    p50Ms: quantileSorted(sorted, 0.5),
    p99Ms: quantileSorted(sorted, 0.99),
    count,
  };
}
