/** Stops workers that exceed a limit. One whose thread would go on beyond `maxAbandonedThreads` stays, but gets no calls. */
import { WorkerStartError } from "../../../../errors.ts";
import type { Lane } from "../../../../host/lanes/lane.ts";
import { AbandonedThreads } from "./abandoned-threads.ts";
import type { Stopping, Workers } from "../../../../host/workers/feature.ts";

export class StoppedWorkers implements Stopping {
  readonly #workers: Workers;
  readonly #abandoned: AbandonedThreads;

  constructor(workers: Workers) {
    const { runtime: { cores, stopsThreads }, size } = workers;
    this.#workers = workers;
    this.#abandoned = new AbandonedThreads({
      cores,
      max: size.maxAbandonedThreads,
      canStop: stopsThreads,
    });
  }

  get abandonedThreads(): number {
    return this.#abandoned.size;
  }

  get stretch(): number {
    return this.#abandoned.stretch(this.#workers.dispatcher.lanes.busyCount);
  }

  stop(lane: Lane, error: Error): void {
    const { dispatcher: { phases }, events } = this.#workers;
    if (!this.#abandoned.mayStop(lane)) {
      this.#keep(lane, error);
      return;
    }
    const continues = this.#abandoned.add(lane);
    phases.end(lane, error);
    if (continues) events.onThreadAbandoned(lane.id);
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
