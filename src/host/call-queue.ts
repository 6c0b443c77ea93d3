/**
 * Calls that wait on the host, with their arguments held: no worker is ready yet, every lane has its
 * fill, or a ring has no room.
 *
 * Oldest first, but for priorities: each level lets a call overtake as many older ones as
 * OVERTAKEN_PER_LEVEL. So a call of low priority waits, but ages: after so many later calls it is as
 * urgent as they are, and nothing waits for ever.
 */
import type { Held } from "../endpoint/hold.ts";

export interface QueuedCall {
  readonly slot: number;
  readonly generation: number;
  readonly task: number;
  readonly held: Held;
  /** Levels above (or below) normal, which is 0. */
  readonly priority: number;
}

/** A call out of the queue, with its place in it. */
export interface TakenCall {
  readonly call: QueuedCall;
  readonly number: number;
}

/** Calls that one level of priority lets a call overtake. */
export const OVERTAKEN_PER_LEVEL = 1000;

/** Removed entries are dropped from the array in strides of at least this many. */
const COMPACT_ENTRIES = 1024;

/** Calls of one priority, in order. */
class Level {
  readonly priority: number;
  #calls: QueuedCall[] = [];
  #numbers: number[] = [];
  #first = 0;

  constructor(priority: number) {
    this.priority = priority;
  }

  get size(): number {
    return this.#calls.length - this.#first;
  }

  /** The place of its oldest call among those of all levels: the lowest comes first. */
  get rank(): number {
    return this.#numbers[this.#first]! - this.priority * OVERTAKEN_PER_LEVEL;
  }

  push(call: QueuedCall, number: number): void {
    this.#calls.push(call);
    this.#numbers.push(number);
  }

  get number(): number {
    return this.#numbers[this.#first]!;
  }

  peek(): QueuedCall {
    return this.#calls[this.#first]!;
  }

  /** Puts a call before all others of its priority. */
  putBack(call: QueuedCall, number: number): void {
    if (this.#first > 0) this.#first--;
    else {
      this.#calls.unshift(call);
      this.#numbers.unshift(number);
    }
    this.#calls[this.#first] = call;
    this.#numbers[this.#first] = number;
  }

  /** Drops the calls that `isWanted` does not want. */
  prune(isWanted: (call: QueuedCall) => boolean): void {
    const numbers = this.#numbers;
    const wanted: number[] = [];
    for (let index = this.#first; index < this.#calls.length; index++) {
      if (isWanted(this.#calls[index]!)) wanted.push(index);
    }
    this.#calls = wanted.map((index) => this.#calls[index]!);
    this.#numbers = wanted.map((index) => numbers[index]!);
    this.#first = 0;
  }

  shift(): void {
    (this.#calls as (QueuedCall | undefined)[])[this.#first++] = undefined;
    if (this.#first >= COMPACT_ENTRIES && this.#first * 2 >= this.#calls.length) {
      this.#calls = this.#calls.slice(this.#first);
      this.#numbers = this.#numbers.slice(this.#first);
      this.#first = 0;
    }
  }
}

export class CallQueue {
  /** Those that are not empty, in no order. */
  #levels: Level[] = [];
  #size = 0;
  #number = 0;

  get size(): number {
    return this.#size;
  }

  push(call: QueuedCall): void {
    this.#levelOf(call).push(call, this.#number++);
    this.#size++;
  }

  /** The next call, or undefined. */
  peek(): QueuedCall | undefined {
    return this.#size === 0 ? undefined : this.#next().peek();
  }

  /** Removes the next call and returns it, with its number; undefined if there is none. */
  take(): TakenCall | undefined {
    if (this.#size === 0) return undefined;
    const level = this.#next();
    const taken = { call: level.peek(), number: level.number };
    level.shift();
    this.#size--;
    if (level.size === 0) this.#levels.splice(this.#levels.indexOf(level), 1);
    return taken;
  }

  /** Puts a call back that was taken: it is the next again. Without a number: before all others. */
  putBack(call: QueuedCall, number: number = -Infinity): void {
    this.#levelOf(call).putBack(call, number);
    this.#size++;
  }

  /** Drops the calls that `isWanted` does not want; the others keep their order. */
  prune(isWanted: (call: QueuedCall) => boolean): void {
    for (const level of this.#levels) level.prune(isWanted);
    this.#levels = this.#levels.filter(({ size }) => size > 0);
    this.#size = this.#levels.reduce((sum, { size }) => sum + size, 0);
  }

  clear(): void {
    this.#levels = [];
    this.#size = 0;
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
