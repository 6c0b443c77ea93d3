/** Backpressure: how many calls may wait on the host, the signal to producers, and the refusal of further calls. */
import { defineValue } from "../../../codec/support/own-property.ts";
import { QueueFullError } from "../../../errors.ts";
import type { QueueBound } from "../../../host/dispatch/queue/queue-bound.ts";

export interface BackpressureOptions {
  /** Maximum of waiting calls. */
  readonly maxQueue: number;
  /** Whether a call beyond it is refused or waits as well. */
  readonly policy: "reject" | "wait";
  /** Minimum number of waiting calls before producers should pause. */
  readonly highWaterMark: number;
  readonly onDrain: () => void;
}

export class Backpressure implements QueueBound {
  readonly #options: BackpressureOptions;
  /** Number of waiting calls at which producers may continue. */
  readonly #lowWaterMark: number;
  /** Number of calls that `admit` has refused. */
  refused = 0;
  /** Whether producers should wait for the drain event. Only this class writes it. */
  needsDrain = false;
  /** Whether calls beyond a number are refused. */
  readonly mayRefuse: boolean;
  /** One error for all calls: refusing a call must cost less than taking it, and creating an error costs more. */
  #full: QueueFullError | undefined;

  constructor(options: BackpressureOptions) {
    this.#options = options;
    this.#lowWaterMark = options.highWaterMark >> 1;
    this.mayRefuse = options.policy === "reject" && options.maxQueue !== Infinity;
  }

  /** Whether no further call may wait beside `queued` others. */
  isFull(queued: number): boolean {
    return queued >= this.#options.maxQueue;
  }

  /** Throws QueueFullError if no further call may wait beside `queued` others. */
  admit(queued: number): void {
    if (!this.mayRefuse || !this.isFull(queued)) return;
    this.refused++;
    throw this.#full ??= refusal(this.#options.maxQueue);
  }

  /** A call waits; `queued` is the new number. */
  onGrown(queued: number): void {
    if (queued >= this.#options.highWaterMark) this.needsDrain = true;
  }

  /** Some calls no longer wait; `queued` is the new number. */
  onShrunk(queued: number): void {
    if (!this.needsDrain || queued > this.#lowWaterMark) return;
    this.needsDrain = false;
    this.#options.onDrain();
  }
}

/** Its stack is only its text: the stack of the first refused call would mislead for the others. */
function refusal(maxQueue: number): QueueFullError {
  const error = new QueueFullError(maxQueue);
  defineValue(error, "stack", `${error.name}: ${error.message}`, false);
  return error;
}
