/**
 * Prints the last output of workers. A worker's `console.log` is a message to its host (Node), or is written when
 * the worker's event loop turns (Bun). A process that ends because nothing keeps it running waits for neither. So
 * before it ends, pools that have taken responses since the last time request a message from each worker once its
 * output has arrived. Waiting for that message keeps the process running.
 */
export interface LastOutputOptions {
  /** Calls `callback` when the process is about to end by itself. Returns a function that removes it. */
  readonly onBeforeExit: (callback: () => void) => () => void;
  /** Responses taken so far. */
  readonly responses: () => number;
  readonly workers: () => Iterable<{ awaitOutput(): void }>;
}

export class LastOutput {
  /** Removes the listener. */
  readonly stop: () => void;
  readonly #options: LastOutputOptions;
  #responsesBefore = 0;

  constructor(options: LastOutputOptions) {
    this.#options = options;
    this.stop = options.onBeforeExit(() => this.#await());
  }

  /**
   * The event occurs again when the output has arrived. Then it must request nothing, or the process would never
   * end.
   */
  #await(): void {
    const responses = this.#options.responses();
    if (responses === this.#responsesBefore) return;
    this.#responsesBefore = responses;
    for (const worker of this.#options.workers()) worker.awaitOutput();
  }
}
