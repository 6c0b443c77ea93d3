/** The parts of a worker that most workers never need: each is made when it is first used. */
import { Promise } from "../builtins.ts";
import type { TaskRequests } from "../realm/worker-realm.ts";
import { TaskSignals } from "./calls/abort-signals.ts";
import {
  HostRequests,
  type HostRequestsOptions,
  type RequestParts,
} from "./requests/host-requests.ts";
import { WorkerTaskRequests } from "./requests/task-requests.ts";

export class RareParts {
  readonly #abortEpochs: SharedArrayBuffer;
  readonly #options: HostRequestsOptions;
  #signals: TaskSignals | undefined;
  #requests: HostRequests | undefined;
  #taskRequests: TaskRequests | undefined;
  /** The parts of the worker, once its tasks are loaded. */
  #loaded: { readonly parts: RequestParts; readonly schedule: () => void } | undefined;

  constructor(abortEpochs: SharedArrayBuffer, options: HostRequestsOptions) {
    this.#abortEpochs = abortEpochs;
    this.#options = options;
  }

  /** The tasks are loaded. Called in the asynchronous context of the worker's loop. */
  start(parts: RequestParts): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    void promise.then(() => this.requests.tell()); // in the context of now, whenever it is resolved
    this.#loaded = { parts, schedule: resolve };
    this.#requests?.start(parts, resolve);
  }

  /** The abort signals of tasks. */
  get signals(): TaskSignals {
    return this.#signals ??= new TaskSignals(this.#abortEpochs);
  }

  /** Requests to the host. */
  get requests(): HostRequests {
    if (this.#requests === undefined) {
      this.#requests = new HostRequests(this.#options);
      if (this.#loaded !== undefined) {
        this.#requests.start(this.#loaded.parts, this.#loaded.schedule);
      }
    }
    return this.#requests;
  }

  /** What `host` and `currentPool` use. */
  get taskRequests(): TaskRequests {
    return this.#taskRequests ??= new WorkerTaskRequests(this, this.#options.codec);
  }
}
