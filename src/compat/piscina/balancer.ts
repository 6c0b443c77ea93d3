/** Which worker gets a task. */
import type { HistogramSummary } from "./histogram.ts";
import type { queueOptionsSymbol } from "./symbols.ts";

/** A task as a balancer sees it. */
export interface PiscinaTask {
  readonly taskId: number;
  readonly filename: string;
  readonly name: string;
  /** When it was made, by `performance.now()`. */
  readonly created: number;
  readonly isAbortable: boolean;
  readonly [queueOptionsSymbol]: object | null;
}

/** The worker behind what balancers see. Enumerable, so that a copy with more properties is as good. */
export const workerSymbol: unique symbol = Symbol.for("heddle.piscina.worker") as never;

/** A worker as balancers and events see it. */
export interface PiscinaWorker {
  readonly id: number;
  /** Its tasks; Infinity while it runs one that may be aborted. */
  readonly currentUsage: number;
  readonly isRunningAbortableTask: boolean;
  /** With `workerHistogram`. */
  readonly histogram: HistogramSummary | null;
  readonly terminating: boolean;
  readonly destroyed: boolean;
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
