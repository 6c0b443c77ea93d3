/**
 * Stops workers that exceed a limit. On Deno, `terminate()` returns but cannot stop a thread that loops or blocks: the thread runs
 * until its task returns, and uses a core if it loops. So the number of such abandoned threads is limited; a worker beyond that stays,
 * but gets no calls. While there are any, hard time limits are multiplied by (abandoned threads + busy workers) / cores if that is
 * above 1.
 */
import { Set } from "../../../../builtins.ts";
import { WorkerStartError } from "../../../../errors.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";
import type { Stopping, Workers } from "../../../../host/workers/feature.ts";

export class StoppedWorkers implements Stopping {
  readonly #workers: Workers;
  readonly #abandoned = new Set<Lane>();
  #hasWarned = false;

  constructor(workers: Workers) {
    this.#workers = workers;
  }

  get abandonedThreads(): number {
    for (const lane of this.#abandoned) if (!isStillRunning(lane)) this.#abandoned.delete(lane);
    return this.#abandoned.size;
  }

  get stretch(): number {
    const { dispatcher: { lanes }, runtime: { cores } } = this.#workers;
    const threads = this.abandonedThreads;
    return threads === 0 ? 1 : Math.max(1, (threads + lanes.busyCount) / cores);
  }

  stop(lane: Lane, error: Error): void {
    const { dispatcher: { phases }, runtime: { cores, stopsThreads }, size } = this.#workers;
    const continues = !stopsThreads && size.spawnWorker === undefined && isStillRunning(lane);
    if (continues && this.abandonedThreads >= (size.maxAbandonedThreads ?? cores)) {
      this.#keep(lane, error);
      return;
    }
    if (continues) this.#abandoned.add(lane);
    phases.end(lane, error);
    if (continues) this.#report(lane.id);
  }

  /** Dispatches `threadAbandoned`, and prints the first one of the pool. */
  #report(workerId: number): void {
    const { abandonedThreads } = this;
    const warning = this.#hasWarned
      ? undefined
      : `worker ${workerId} was stopped, but its thread keeps running: this runtime cannot stop a thread ` +
        "that loops or blocks. Tasks should check their signal (task({ abortSignal: true }), signal.aborted).";
    const { events } = this.#workers;
    const isPrinted = events.emit("threadAbandoned", { workerId, abandonedThreads }, warning);
    this.#hasWarned ||= isPrinted;
  }

  /** Its waiting calls run elsewhere. It ends when it has answered. Without another worker the pool fails. */
  #keep(lane: Lane, cause: Error): void {
    const { dispatcher: { phases, lanes }, events, isClosing } = this.#workers;
    if (lane.isUnstoppable || isClosing) return;
    lane.isUnstoppable = true;
    phases.drain(lane, "it exceeded a limit");
    const unstoppable = lanes.all
      .filter(({ phase, isUnstoppable }) => phase === "draining" && isUnstoppable).length;
    if (this.#workers.alive + this.#workers.delayed > unstoppable || this.#workers.mayStart) return;
    const message = `No worker is left: ${unstoppable} run tasks that cannot be stopped, beside ` +
      `${this.abandonedThreads} abandoned threads (maxAbandonedThreads)`;
    events.onFailed(new WorkerStartError(`${message}.`, { cause }));
  }
}

/** The task has returned if the worker is parked, or a response of it is unread or waits for room. */
function isStillRunning(lane: Lane): boolean {
  return lane.isAwake && !lane.hasBacklog && !lane.endpoint.rx.hasRecord;
}
