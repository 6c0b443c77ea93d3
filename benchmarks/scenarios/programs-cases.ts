/** Names of what `programs` measures: runs, tables and charts tell them apart. */

export const JAVASCRIPT = "JavaScript";
export const HEDDLE = "heddle";
export const BARE_WORKER = "bare worker";
/** The native contender that measures goroutines and channels. */
export const GOROUTINES = "goroutines";

export const GOROUTINE = "goroutine";
export const BUFFERED_CHANNEL = "buffered channel";
export const UNBUFFERED_CHANNEL = "unbuffered channel";

/** Figures of a program beside its seconds, whose case is its name. */
export const cpuOf = (program: string): string => `${program}, processor time`;
export const memoryOf = (program: string): string => `${program}, peak memory`;
export const sourceOf = (program: string): string => `${program}, source`;

/** Fasta: processor time of a worker's thread over wall time, while it has parts left. */
export const UTILISATION = "fasta, utilisation of a worker";

export const WORKER_START = "start of a worker";
export const WORKER_MEMORY = "memory of an idle worker";
export const ROUND_TRIP = "message there and back, 1,000 in flight";
export const ONE_WAY = "message one way";

/** Messages in flight at once. */
export const IN_FLIGHT = 1000;

export const heddleWith = (workers: number): string =>
  `${HEDDLE}, ${workers} worker${workers === 1 ? "" : "s"}`;

/** 1, 2, 4 … and `most`. */
export function workerCounts(most: number): number[] {
  const counts: number[] = [];
  for (let count = 1; count < most; count *= 2) counts.push(count);
  return [...counts, most];
}
