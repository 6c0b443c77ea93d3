/**
 * Calls that wait on the host, in order, with their arguments held: no worker is ready yet, every
 * lane has its fill, or a ring has no room.
 */
import type { Held } from "../endpoint/hold.ts";

export interface QueuedCall {
  readonly slot: number;
  readonly generation: number;
  readonly task: number;
  readonly held: Held;
}

/** Removed entries are dropped from the array in strides of at least this many. */
const COMPACT_ENTRIES = 1024;

export class CallQueue {
  #calls: QueuedCall[] = [];
  #first = 0;

  get size(): number {
    return this.#calls.length - this.#first;
  }

  push(call: QueuedCall): void {
    this.#calls.push(call);
  }

  /** The oldest call, or undefined. */
  peek(): QueuedCall | undefined {
    return this.#calls[this.#first];
  }

  /** Removes the oldest call. */
  shift(): void {
    (this.#calls as (QueuedCall | undefined)[])[this.#first++] = undefined;
    if (this.#first === this.#calls.length) {
      this.#calls = [];
      this.#first = 0;
    } else if (this.#first >= COMPACT_ENTRIES && this.#first * 2 >= this.#calls.length) {
      this.#calls = this.#calls.slice(this.#first);
      this.#first = 0;
    }
  }

  clear(): void {
    this.#calls = [];
    this.#first = 0;
  }
}
