/** Counts workers that fail to start or end without a response, and decides when the pool has failed. */
import { TaskNotFoundError, WorkerStartError } from "../../errors.ts";
import type { StartFailure } from "../../protocol/start-data.ts";
import { SERVED_URL } from "../../realm/served-modules.ts";

/** Failed starts in a row that fail the pool. */
const MAX_START_FAILURES = 5;
/** Workers in a row without an answer that fail the pool. */
const MAX_UNPRODUCTIVE = 10;
/** First delay before a replacement. */
const BACK_OFF_MS = 5;
const MAX_BACK_OFF_MS = 500;

export class WorkerFailures {
  #wasAnyReady: boolean;
  #startFailures = 0;
  #unproductiveInARow = 0;
  /** Responses taken when a worker last ended without one of its own. */
  #responsesAtLastFailure = 0;

  constructor(wasAnyReady: boolean) {
    this.#wasAnyReady = wasAnyReady;
  }

  /** A worker is ready. */
  onReady(): void {
    this.#startFailures = 0;
    this.#wasAnyReady = true;
  }

  /** Delay before the next replacement, in milliseconds. */
  get delayMs(): number {
    const failures = Math.max(this.#unproductiveInARow, this.#startFailures);
    return Math.min(BACK_OFF_MS * 2 ** failures, MAX_BACK_OFF_MS);
  }

  /** Counts a failed start. True: the pool has failed. A pool with open workers goes on with them. */
  countFailedStart(openWorkers: number): boolean {
    this.#startFailures++;
    if (!this.#wasAnyReady) return true;
    return this.#startFailures >= MAX_START_FAILURES && openWorkers === 0;
  }

  /** The error of a pool that has failed with this start. */
  startError(error: Error): Error {
    if (!this.#wasAnyReady) return error;
    const message = `${this.#startFailures} workers in a row could not be started`;
    return new WorkerStartError(`${message}: ${error.message}`, { cause: error });
  }

  /**
   * Counts a worker that has ended. `responses`: those that the pool has taken so far. Returns the error of a pool that has
   * failed with it.
   */
  countEnd(
    isUnproductive: boolean,
    responses: number,
    reason: string,
    options: ErrorOptions,
  ): WorkerStartError | undefined {
    if (!isUnproductive || responses !== this.#responsesAtLastFailure) this.#unproductiveInARow = 0;
    if (isUnproductive) this.#unproductiveInARow++;
    this.#responsesAtLastFailure = responses;
    if (this.#unproductiveInARow < MAX_UNPRODUCTIVE) return undefined;
    const message = `${MAX_UNPRODUCTIVE} workers in a row ended before they had answered a call`;
    return new WorkerStartError(`${message}; the last: ${reason}.`, options);
  }
}

/** The error of a worker that is not ready in time. One that the program has started (in browsers) may not be heddle's. */
export function lateStart(limitMs: number, taskModule: string | undefined): WorkerStartError {
  const hint = taskModule === SERVED_URL
    ? " Its script may not call serve(tasks) of heddle/browser/worker."
    : "";
  return new WorkerStartError(`The worker was not ready within ${limitMs} ms.${hint}`);
}

/** The error of a worker that reports why it cannot start. `setup` is the URL of its setup module. */
export function startErrorOf(
  { part, module, place }: StartFailure,
  cause: Error,
  setup: string | undefined,
): Error {
  if (part === "export") return new TaskNotFoundError(cause.message);
  const what = part === "setup"
    ? `The setup module ${setup} failed`
    : `${module === undefined ? "A task module" : `The module ${module}`} failed to load`;
  const where = place === undefined || cause.message.includes(place) ? "" : `${place}: `;
  return new WorkerStartError(`${what}: ${where}${cause.message}`, { cause });
}
