/** The queues that come with jest-worker. */
import type { QueueChildMessage, TaskQueue } from "./types.ts";

/** A list that is read from its beginning. */
class List<T> {
  #items: T[] = [];
  #first = 0;

  get first(): T | undefined {
    return this.#items[this.#first];
  }

  get last(): T | undefined {
    return this.#items[this.#items.length - 1];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const { first } = this;
    if (first === undefined) return undefined;
    this.#items[this.#first++] = undefined as T; // so that it can be collected
    if (this.#first === this.#items.length) {
      this.#items = [];
      this.#first = 0;
    }
    return first;
  }
}

/** A call for one worker, and the last call for any worker that was made before it. */
interface Bound {
  readonly task: QueueChildMessage;
  readonly after: QueueChildMessage | undefined;
}

/** Calls in the order in which they were made, those for one worker among those for any. */
export class FifoQueue implements TaskQueue {
  readonly #shared = new List<QueueChildMessage>();
  readonly #bound = new Map<number, List<Bound>>();

  enqueue(task: QueueChildMessage, workerId?: number | null): void {
    if (workerId === undefined || workerId === null) return this.#shared.push(task);
    let bound = this.#bound.get(workerId);
    if (bound === undefined) this.#bound.set(workerId, bound = new List());
    bound.push({ task, after: this.#shared.last });
  }

  dequeue(workerId: number): QueueChildMessage | null {
    const bound = this.#bound.get(workerId);
    const next = bound?.first;
    if (next !== undefined && next.after?.request[1] !== false) return bound!.shift()!.task;
    return this.#shared.shift() ?? null;
  }
}

interface Ranked {
  readonly task: QueueChildMessage;
  readonly priority: number;
  readonly number: number;
}

const isBefore = (one: Ranked, other: Ranked): boolean =>
  one.priority < other.priority || (one.priority === other.priority && one.number < other.number);

/** A binary heap. */
class Heap {
  readonly #items: Ranked[] = [];

  get first(): Ranked | undefined {
    return this.#items[0];
  }

  add(item: Ranked): void {
    const items = this.#items;
    let at = items.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!isBefore(item, items[above]!)) break;
      items[at] = items[above]!;
      at = above;
    }
    items[at] = item;
  }

  take(): Ranked | undefined {
    const items = this.#items;
    const [first] = items;
    const moved = items.pop();
    if (moved === undefined || items.length === 0) return first;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below + 1 < items.length && isBefore(items[below + 1]!, items[below]!)) below++;
      if (below >= items.length || !isBefore(items[below]!, moved)) break;
      items[at] = items[below]!;
      at = below;
    }
    items[at] = moved;
    return first;
  }
}

/** Calls by a priority that the program computes, lowest first; those of the same priority in the order in which they were made. */
export class PriorityQueue implements TaskQueue {
  readonly #priorityOf: (method: string, ...args: unknown[]) => number;
  readonly #shared = new Heap();
  readonly #bound = new Map<number, Heap>();
  #number = 0;

  constructor(computePriority: (method: string, ...args: unknown[]) => number) {
    this.#priorityOf = computePriority;
  }

  enqueue(task: QueueChildMessage, workerId?: number | null): void {
    const [, , method, args] = task.request;
    const ranked = { task, priority: this.#priorityOf(method, ...args), number: this.#number++ };
    if (workerId === undefined || workerId === null) return this.#shared.add(ranked);
    let bound = this.#bound.get(workerId);
    if (bound === undefined) this.#bound.set(workerId, bound = new Heap());
    bound.add(ranked);
  }

  dequeue(workerId: number): QueueChildMessage | null {
    const bound = this.#bound.get(workerId);
    const own = bound?.first;
    const shared = this.#shared.first;
    // No other worker can run a call of its own.
    const isOwn = own !== undefined && (shared === undefined || own.priority <= shared.priority);
    return (isOwn ? bound : this.#shared)?.take()?.task ?? null;
  }
}
