/**
 * What a pool does if a thread cannot start here, for want of a permission or because of a limit (option `onUnavailable`): it
 * goes on with the threads it has; without any, with a worker on the host's thread, whose code is loaded only then.
 */
import { WorkerStartError } from "../../errors.ts";
import type { WorkerHandle } from "../../runtimes/runtime.ts";
import type { LaneOptions } from "./lane-options.ts";

export interface UnavailableThreadsOptions {
  readonly spawnOnHost: NonNullable<LaneOptions["spawnOnHost"]>;
  /** Workers that take calls or are starting, and of these those that take calls. */
  readonly alive: () => number;
  readonly open: () => number;
  /** Workers are made by `spawn` from now on. */
  readonly onLoaded: (spawn: () => WorkerHandle) => void;
  /** From now on the pool has at most so many threads, or one worker on the host. */
  readonly onUnavailable: (error: Error, threads: number) => void;
  readonly onFailed: (error: Error) => void;
}

export class UnavailableThreads {
  /** Whether the tasks run on the host. */
  isOnHost = false;
  /** Whether the code for that is not there yet. */
  isLoading = false;
  readonly #options: UnavailableThreadsOptions;

  constructor(options: UnavailableThreadsOptions) {
    this.#options = options;
  }

  /**
   * A thread cannot start. True: the pool goes on, without a replacement of it. False: it deals with the failure as with any
   * other; it has workers, or may not do without threads. `isFirst`: while the pool starts its first threads.
   */
  goOn(error: Error, isFirst: boolean): boolean {
    const { alive, open, onUnavailable } = this.#options;
    if (!(error instanceof WorkerStartError)) return false;
    if (this.isOnHost || open() > 0) return false;
    const threads = alive();
    if (threads > 0 && !isFirst) return true; // those that are starting show whether threads can run
    onUnavailable(error, threads);
    if (threads === 0) this.#load();
    return true;
  }

  #load(): void {
    this.isOnHost = this.isLoading = true;
    this.#options.spawnOnHost().then((spawn) => {
      this.isLoading = false;
      this.#options.onLoaded(spawn);
    }).catch((cause) => {
      const message = `Neither a thread nor a worker on the host can start: ${cause}`;
      this.#options.onFailed(new WorkerStartError(message, { cause }));
    });
  }
}
