/**
 * Events in order of time; of two at the same time the one pushed first goes first, so that a run
 * depends on nothing but its input.
 */
export interface Event {
  readonly time: number;
  readonly order: number;
  readonly run: () => void;
  /** Stale events are dropped when they come up. */
  readonly isValid?: () => boolean;
}

const isBefore = (a: Event, b: Event): boolean =>
  a.time < b.time || (a.time === b.time && a.order < b.order);

export class EventHeap {
  readonly #events: Event[] = [];
  #pushed = 0;

  push(time: number, run: () => void, isValid?: () => boolean): void {
    const order = this.#pushed++;
    const event: Event = isValid === undefined
      ? { time, order, run }
      : { time, order, run, isValid };
    const events = this.#events;
    let index = events.length;
    events.push(event);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(event, events[parent]!)) break;
      events[index] = events[parent]!;
      index = parent;
    }
    events[index] = event;
  }

  /** The next event that still counts. */
  peek(): Event | undefined {
    for (;;) {
      const first = this.#events[0];
      if (first === undefined || first.isValid === undefined || first.isValid()) return first;
      this.pop();
    }
  }

  pop(): void {
    const events = this.#events;
    const last = events.pop();
    if (last === undefined || events.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= events.length) break;
      if (child + 1 < events.length && isBefore(events[child + 1]!, events[child]!)) child++;
      if (!isBefore(events[child]!, last)) break;
      events[index] = events[child]!;
      index = child;
    }
    events[index] = last;
  }
}

/** First in, first out, without shifting an array. */
export class Fifo<T> {
  #items: T[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  peek(): T | undefined {
    return this.#items[this.#head];
  }

  shift(): T | undefined {
    const item = this.#items[this.#head];
    if (item === undefined) return undefined;
    this.#head++;
    if (this.#head > 64 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** Takes back the one that was pushed last. */
  popLast(): T | undefined {
    return this.size === 0 ? undefined : this.#items.pop();
  }
}
