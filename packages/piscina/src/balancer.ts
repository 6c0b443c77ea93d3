/** Which worker gets a task. */
import type { HistogramSummary } from "./histogram.ts";
import type { queueOptionsSymbol } from "./symbols.ts";

/** A task as a balancer sees it. */
export interface PiscinaTask {
  /** A number that no other task has. */
  readonly taskId: number;
  /** The path of its module. */
  readonly filename: string;
  /** The export that is its function. */
  readonly name: string;
  /** When it was made, by `performance.now()`. */
  readonly created: number;
  /** Whether it has a signal. */
  readonly isAbortable: boolean;
  /** What its argument has under this key; null: nothing. */
  readonly [queueOptionsSymbol]: object | null;
}

/** The worker behind what balancers see. Enumerable, so that a copy with more properties is as good. */
export const workerSymbol: unique symbol = Symbol.for("heddle.piscina.worker") as never;

/** A worker as balancers and events see it. */
export interface PiscinaWorker {
  /** A number that no other worker has. */
  readonly id: number;
  /** Its tasks; Infinity while it runs one that may be aborted. */
  readonly currentUsage: number;
  /** Whether it runs a task that has a signal. */
  readonly isRunningAbortableTask: boolean;
  /** Its run times with `workerHistogram`, otherwise null. */
  readonly histogram: HistogramSummary | null;
  /** Always false: a worker that ends is destroyed at once. */
  readonly terminating: boolean;
  /** Whether the pool has given it up. */
  readonly destroyed: boolean;
  /** The worker that this describes. */
  readonly [workerSymbol]: unknown;
}

/** Returns one of the workers, or null: the task waits. */
export type Balancer = (
  task: PiscinaTask,
  workers: readonly PiscinaWorker[],
) => PiscinaWorker | null | undefined;

/** An idle worker, or else the one with the fewest tasks that takes one more. An abortable task wants a worker of its own. */
export const leastBusy = (most: number): Balancer => (task, workers) => {
  let chosen: PiscinaWorker | null = null;
  let least = most;
  for (const worker of workers) {
    const usage = worker.currentUsage;
    if (usage === 0) return worker;
    if (worker.isRunningAbortableTask || task.isAbortable || usage >= least) continue;
    chosen = worker;
    least = usage;
  }
  return chosen;
};
