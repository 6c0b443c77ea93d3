/**
 * How many calls may wait on the host: what producers are told, and what becomes of a call too many.
 */
import { defineValue } from "../../codec/support/own-property.ts";
import { QueueFullError } from "../../errors.ts";

export interface BackpressureOptions {
  /** Calls that may wait. */
  readonly maxQueue: number;
  /** Refuse what is beyond it, or let it wait as well. */
  readonly policy: "reject" | "wait";
  /** From so many on producers are asked to wait. */
  readonly highWaterMark: number;
  readonly onDrain: () => void;
}

export class Backpressure {
  readonly #options: BackpressureOptions;
  /** So few are left when producers may go on. */
  readonly #lowWaterMark: number;
  #needsDrain = false;
  /** One for all calls: shedding load must cost less than taking it, and making an error costs more. */
  #full: QueueFullError | undefined;

  constructor(options: BackpressureOptions) {
    this.#options = options;
    this.#lowWaterMark = options.highWaterMark >> 1;
  }

  /** Whether producers should wait for the drain event. */
  get needsDrain(): boolean {
    return this.#needsDrain;
  }

  /** Whether no further call may wait beside `queued` others. */
  isFull(queued: number): boolean {
    return queued >= this.#options.maxQueue;
  }

  /** Throws QueueFullError if no further call may wait beside `queued` others. */
  admit(queued: number): void {
    const { maxQueue, policy } = this.#options;
    if (this.isFull(queued) && policy === "reject") throw this.#full ??= refusal(maxQueue);
  }

  /** A call waits: so many do now. */
  grown(queued: number): void {
    if (queued >= this.#options.highWaterMark) this.#needsDrain = true;
  }

  /** Some calls wait no longer. */
  shrunk(queued: number): void {
    if (!this.#needsDrain || queued > this.#lowWaterMark) return;
    this.#needsDrain = false;
    this.#options.onDrain();
  }
}

/** Its stack is its text: that of the first call refused would say nothing about the others. */
function refusal(maxQueue: number): QueueFullError {
  const error = new QueueFullError(maxQueue);
  defineValue(error, "stack", `${error.name}: ${error.message}`, false);
  return error;
}
