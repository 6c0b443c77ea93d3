/** Operations of this thread on one side of a channel, in the order in which they were begun: that is the order of their values. */
import { Set } from "../../builtins.ts";
import type { LoopWaits } from "../threads/loop-waits.ts";

export class Turns {
  readonly #waiting = new Set<object>();
  readonly #loop: LoopWaits;

  constructor(loop: LoopWaits) {
    this.#loop = loop;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  enter(operation: object): void {
    this.#waiting.add(operation);
  }

  /** Whether none before it waits. */
  isNext(operation: object): boolean {
    const { value } = this.#waiting.values().next();
    return value === undefined || value === operation;
  }

  leave(operation: object): void {
    if (this.#waiting.delete(operation) && this.#waiting.size > 0) this.#loop.checkAll();
  }
}
