/** Queues of tasks that wait for a worker: Piscina's two, and what a queue of the program has to have. */
import type { queueOptionsSymbol } from "./symbols.ts";

/** A task as a queue sees it. */
export interface Task {
  /** What the argument has under this key; null: nothing. */
  readonly [queueOptionsSymbol]: object | null;
}

/** Where tasks wait for a worker. */
export interface TaskQueue {
  /** Number of tasks that wait. */
  readonly size: number;
  /** Takes the next task; null: none waits. */
  shift(): Task | null;
  /** Takes this task out, if it waits. */
  remove(task: Task): void;
  /** Adds a task. */
  push(task: Task): void;
  /** Puts a task back that no worker took. Without it the task goes to the end. */
  unshift?(task: Task): void;
}

/** Throws unless it is a queue. */
export function checkQueue(value: unknown): TaskQueue {
  const queue = value as Partial<TaskQueue> | null;
  const isQueue = typeof queue === "object" && queue !== null && "size" in queue &&
    (["shift", "remove", "push"] as const).every((name) => typeof queue[name] === "function");
  if (!isQueue) throw new TypeError("options.taskQueue must be a TaskQueue object");
  return queue as TaskQueue;
}

/** A list. Taking the first task takes time with its length. */
export class ArrayTaskQueue implements TaskQueue {
  /** Those that wait, the next one first. */
  tasks: Task[] = [];

  /** Number of tasks that wait. */
  get size(): number {
    return this.tasks.length;
  }

  /** Takes the first task; null: none waits. */
  shift(): Task | null {
    return this.tasks.shift() ?? null;
  }

  /** Adds a task at the end. */
  push(task: Task): void {
    this.tasks.push(task);
  }

  /** Adds a task at the front. */
  unshift(task: Task): void {
    this.tasks.unshift(task);
  }

  /** Takes this task out, if it waits. */
  remove(task: Task): void {
    const index = this.tasks.indexOf(task);
    if (index >= 0) this.tasks.splice(index, 1);
  }
}

/** Tasks before the first one that are kept until they are as many as the others. */
const KEPT = 1024;

/** A list whose first tasks are taken in constant time. */
export class FixedQueue implements TaskQueue {
  #tasks: (Task | undefined)[] = [];
  /** Index of the first task. */
  #first = 0;

  /** Number of tasks that wait. */
  get size(): number {
    return this.#tasks.length - this.#first;
  }

  /** Whether no task waits. */
  isEmpty(): boolean {
    return this.size === 0;
  }

  /** Adds a task at the end. */
  push(task: Task): void {
    this.#tasks.push(task);
  }

  /** Adds a task at the front. */
  unshift(task: Task): void {
    if (this.#first === 0) this.#tasks.unshift(task);
    else this.#tasks[--this.#first] = task;
  }

  /** Takes the first task; null: none waits. */
  shift(): Task | null {
    if (this.isEmpty()) return null;
    const task = this.#tasks[this.#first]!;
    this.#tasks[this.#first++] = undefined;
    if (this.#first >= KEPT && this.#first * 2 >= this.#tasks.length) {
      this.#tasks = this.#tasks.slice(this.#first);
      this.#first = 0;
    }
    return task;
  }

  /** Takes this task out, if it waits. */
  remove(task: Task): void {
    const index = this.#tasks.indexOf(task, this.#first);
    if (index >= 0) this.#tasks.splice(index, 1);
  }
}
