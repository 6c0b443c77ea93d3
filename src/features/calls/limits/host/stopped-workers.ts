/** Stops workers that exceed a limit. One whose thread would go on beyond `maxAbandonedThreads` stays, but gets no calls. */
import { Set } from "../../../../builtins.ts";
import { WorkerStartError } from "../../../../errors.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";
import { AbandonedThreads } from "./abandoned-threads.ts";
import type { Stopping, Workers } from "../../../../host/workers/feature.ts";

export class StoppedWorkers implements Stopping {
  readonly #workers: Workers;
  readonly #abandoned: AbandonedThreads;
  /** Workers that must be stopped but cannot. */
  readonly #unstoppable = new Set<Lane>();
  #hasWarned = false;

  constructor(workers: Workers) {
    const { dispatcher: { lanes }, runtime: { cores, stopsThreads }, size } = workers;
    this.#workers = workers;
    this.#abandoned = new AbandonedThreads({
      cores,
      max: size.maxAbandonedThreads ?? cores,
      canStop: stopsThreads,
    });
    lanes.watch((lane) => {
      if (lane.phase === "closing" || lane.phase === "gone") this.#unstoppable.delete(lane);
    });
  }

  get abandonedThreads(): number {
    return this.#abandoned.size;
  }

  get stretch(): number {
    return this.#abandoned.stretch(this.#workers.dispatcher.lanes.busyCount);
  }

  get occupied(): number {
    return this.#unstoppable.size;
  }

  stop(lane: Lane, error: Error): void {
    const { dispatcher: { phases } } = this.#workers;
    if (!this.#abandoned.mayStop(lane)) {
      this.#keep(lane, error);
      return;
    }
    const continues = this.#abandoned.add(lane);
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
    const { dispatcher: { phases }, events, isClosing } = this.#workers;
    const unstoppable = this.#unstoppable;
    if (unstoppable.has(lane) || isClosing) return;
    unstoppable.add(lane);
    phases.drain(lane, "it exceeded a limit");
    if (this.#workers.alive + this.#workers.delayed > unstoppable.size || this.#workers.mayStart) {
      return;
    }
    const message =
      `No worker is left: ${unstoppable.size} run tasks that cannot be stopped, beside ` +
      `${this.abandonedThreads} abandoned threads (maxAbandonedThreads)`;
    events.onFailed(new WorkerStartError(`${message}.`, { cause }));
  }
}
