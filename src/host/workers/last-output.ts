/**
 * Gets the last output of workers printed. A worker's `console.log` is a message to its host (Node), or written when the
 * worker's event loop turns (Bun), and a process that ends by itself, as nothing keeps it running, waits for neither. So
 * before it ends, pools that have taken responses since the last time ask their workers to say when what they had
 * written has arrived; that keeps the process running.
 */
export interface LastOutputOptions {
  /** Has `callback` called when the process is about to end by itself; returns how to take it back. */
  readonly onBeforeExit: (callback: () => void) => () => void;
  /** Responses taken so far. */
  readonly responses: () => number;
  readonly workers: () => Iterable<{ awaitOutput(): void }>;
}

export class LastOutput {
  /** Takes the listener back. */
  readonly stop: () => void;
  readonly #options: LastOutputOptions;
  #responsesBefore = 0;

  constructor(options: LastOutputOptions) {
    this.#options = options;
    this.stop = options.onBeforeExit(() => this.#await());
  }

  /** Comes again when the output has arrived: nothing may be asked for then, or the process would never end. */
  #await(): void {
    const responses = this.#options.responses();
    if (responses === this.#responsesBefore) return;
    this.#responsesBefore = responses;
    for (const worker of this.#options.workers()) worker.awaitOutput();
  }
}
