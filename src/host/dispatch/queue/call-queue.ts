/**
 * Calls that wait on the host, as snapshots: no worker is ready yet, every in-flight window is full, or a ring has
 * no room.
 *
 * Oldest first, except for priorities: each level lets a call overtake OVERTAKEN_PER_LEVEL older ones. So a call of
 * low priority ages: after enough later calls it is as urgent as they are, and no call waits for ever.
 */
import { Map } from "../../../builtins.ts";
import type { QueuedCall } from "../../calls/queued-call.ts";

/** Calls that one level of priority lets a call overtake. */
export const OVERTAKEN_PER_LEVEL = 1000;

/** Removed entries are dropped from the array in strides of at least this many. */
const COMPACT_ENTRIES = 1024;

/** Calls of one priority, in order. */
class Level {
  readonly priority: number;
  calls: QueuedCall[] = [];
  /** When each was added, as a number. */
  numbers: number[] = [];
  /** Index of its oldest call. */
  first = 0;

  constructor(priority: number) {
    this.priority = priority;
  }

  /** The rank of its oldest call among those of all levels: the lowest is first. */
  get rank(): number {
    return this.numbers[this.first]! - this.priority * OVERTAKEN_PER_LEVEL;
  }

  find(slot: number, generation: number): QueuedCall | undefined {
    return this.calls.find((call) => call?.slot === slot && call.generation === generation);
  }

  /** Inserts calls, in this order, before all others of their priority and of any other. */
  putBack(calls: readonly QueuedCall[]): void {
    const lacking = calls.length - this.first;
    if (lacking > 0) {
      this.calls = calls.slice(0, lacking).concat(this.calls);
      this.numbers = new Array<number>(lacking).fill(-Infinity).concat(this.numbers);
      this.first += lacking;
    }
    this.first -= calls.length;
    for (let index = 0; index < calls.length; index++) {
      this.calls[this.first + index] = calls[index]!;
      this.numbers[this.first + index] = -Infinity;
    }
  }

  /** Drops the calls for which `isWanted` is false. */
  prune(isWanted: (call: QueuedCall) => boolean): void {
    const numbers = this.numbers;
    const wanted: number[] = [];
    for (let index = this.first; index < this.calls.length; index++) {
      if (isWanted(this.calls[index]!)) wanted.push(index);
    }
    this.calls = wanted.map((index) => this.calls[index]!);
    this.numbers = wanted.map((index) => numbers[index]!);
    this.first = 0;
  }

  shift(): void {
    (this.calls as (QueuedCall | undefined)[])[this.first++] = undefined;
    if (this.first >= COMPACT_ENTRIES && this.first * 2 >= this.calls.length) {
      this.calls = this.calls.slice(this.first);
      this.numbers = this.numbers.slice(this.first);
      this.first = 0;
    }
  }
}

export class CallQueue {
  /** Levels that are not empty, in no order. */
  #levels: Level[] = [];
  /** Calls in the queue. Only this class writes it. */
  size = 0;
  #number = 0;

  push(call: QueuedCall): void {
    const level = this.#levelOf(call);
    level.calls.push(call);
    level.numbers.push(this.#number++);
    this.size++;
  }

  /** The next call, or undefined. */
  peek(): QueuedCall | undefined {
    if (this.size === 0) return undefined;
    const level = this.#next();
    return level.calls[level.first];
  }

  /** Removes the next call and returns it; undefined if there is none. */
  take(): QueuedCall | undefined {
    if (this.size === 0) return undefined;
    const level = this.#next();
    const call = level.calls[level.first];
    level.shift();
    this.size--;
    if (level.first === level.calls.length) this.#levels.splice(this.#levels.indexOf(level), 1);
    return call;
  }

  /** The call of this id if it is in the queue. */
  find(slot: number, generation: number): QueuedCall | undefined {
    for (const level of this.#levels) {
      const found = level.find(slot, generation);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  has(slot: number, generation: number): boolean {
    return this.find(slot, generation) !== undefined;
  }

  /** Inserts calls that had left the queue, in this order, before all others of their priority. */
  putBackAll(calls: readonly QueuedCall[]): void {
    for (const level of Map.groupBy(calls, ({ priority }) => priority).values()) {
      this.#levelOf(level[0]!).putBack(level);
    }
    this.size += calls.length;
  }

  /** Drops the calls for which `isWanted` is false; the others keep their order. */
  prune(isWanted: (call: QueuedCall) => boolean): void {
    for (const level of this.#levels) level.prune(isWanted);
    // Pruned levels begin at their first entry.
    this.#levels = this.#levels.filter(({ calls }) => calls.length > 0);
    this.size = this.#levels.reduce((sum, { calls }) => sum + calls.length, 0);
  }

  clear(): void {
    this.#levels = [];
    this.size = 0;
  }

  #levelOf(call: QueuedCall): Level {
    let level = this.#levels.find(({ priority }) => priority === call.priority);
    if (level === undefined) this.#levels.push(level = new Level(call.priority));
    return level;
  }

  #next(): Level {
    let next = this.#levels[0]!;
    for (let index = 1; index < this.#levels.length; index++) {
      const level = this.#levels[index]!;
      const isEarlier = level.rank < next.rank ||
        (level.rank === next.rank && level.priority > next.priority);
      if (isEarlier) next = level;
    }
    return next;
  }
}
