/**
 * What a pool does if a thread cannot start here, for want of a permission or because of a limit (option `onUnavailable`): it
 * goes on with the threads it has; without any, with a worker on the host's thread, whose code is loaded only then.
 */
import { WorkerStartError } from "../../../../errors.ts";
import type { Fallback, Workers } from "../../../../host/workers/feature.ts";

export class UnavailableThreads implements Fallback {
  isOnHost = false;
  isLoading = false;
  readonly #workers: Workers;

  constructor(workers: Workers) {
    this.#workers = workers;
  }

  goOn(error: Error, isFirst: boolean): boolean {
    const { alive: threads, dispatcher: { lanes }, events } = this.#workers;
    if (!(error instanceof WorkerStartError)) return false;
    if (this.isOnHost || lanes.open.length > 0) return false;
    if (threads > 0 && !isFirst) return true; // those that are starting show whether threads can run
    this.#workers.limit(Math.max(1, threads));
    events.onUnavailable(error, threads);
    if (threads === 0) this.#load();
    return true;
  }

  #load(): void {
    this.isOnHost = this.isLoading = true;
    this.#workers.spawnOnHost!().then((spawn) => {
      this.isLoading = false;
      this.#workers.spawnBy(spawn);
    }).catch((cause) => {
      const message = `Neither a thread nor a worker on the host can start: ${cause}`;
      this.#workers.events.onFailed(new WorkerStartError(message, { cause }));
    });
  }
}
