/**
 * What a pool does if a thread cannot start here, for want of a permission or because of a limit (option `onUnavailable`): it
 * goes on with the threads it has; without any, or if it should have none (`threads: 0`), with a worker on the host's thread, whose code is
 * loaded only then.
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
    const { alive: threads, dispatcher: { lanes } } = this.#workers;
    if (!(error instanceof WorkerStartError)) return false;
    if (this.isOnHost || lanes.open.length > 0) return false;
    if (threads > 0 && !isFirst) return true; // those that are starting show whether threads can run
    this.#workers.limit(Math.max(1, threads));
    this.#report(error, threads);
    if (threads === 0) this.useHost();
    return true;
  }

  /** After the code that has created the pool, which may add a listener. */
  #report(error: Error, threads: number): void {
    const { events, runtime } = this.#workers;
    runtime.macrotask(() => {
      const place = threads === 0 ? "on the host, which they may block" : `in ${threads} threads`;
      const warning =
        `no further thread can start, so the tasks of a pool run ${place}: ${error.message}`;
      events.emit("unavailable", { threads, error }, warning);
    });
  }

  useHost(): void {
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
