/** Queues of tasks that wait for a worker. */
import type { Resolver } from "./promise.ts";
import type { Any, AnyFunction, ExecOptions } from "./types.ts";

/** A task that waits. */
export interface Task<T = Any> {
  /** The name of its function. */
  method: string | AnyFunction;
  /** Its arguments. */
  params?: Any[] | null | undefined;
  /** Its promise. */
  resolver: Resolver | {
    promise: unknown;
    resolve: (value: Any) => void;
    reject: (error: Any) => void;
  };
  /** Time that it may run, if its `timeout()` was called while it waits. */
  timeout: number | null;
  /** The options of `exec`. */
  options?: ExecOptions<T> | undefined;
}

/** What the option `queueStrategy` takes beside names. */
export interface TaskQueue<T = Any> {
  /** Adds a task. */
  push(task: Task<T>): void;
  /** Takes the next task out. */
  pop(): Task<T> | undefined;
  /** The number of tasks. */
  size(): number;
  /** Whether a task is in it. */
  contains(task: Task<T>): boolean;
  /** Removes all tasks. */
  clear(): void;
}

/** First in, first out. */
class FIFOQueue<T = Any> implements TaskQueue<T> {
  /** In the order in which `pop` takes them. */
  readonly #tasks = new Set<Task<T>>();

  push(task: Task<T>): void {
    this.#tasks.add(task);
  }

  pop(): Task<T> | undefined {
    for (const task of this.#tasks) {
      this.#tasks.delete(task);
      return task;
    }
    return undefined;
  }

  size(): number {
    return this.#tasks.size;
  }

  contains(task: Task<T>): boolean {
    return this.#tasks.has(task);
  }

  clear(): void {
    this.#tasks.clear();
  }
}

/** Last in, first out. */
class LIFOQueue<T = Any> implements TaskQueue<T> {
  readonly #tasks: Task<T>[] = [];

  push(task: Task<T>): void {
    this.#tasks.push(task);
  }

  pop(): Task<T> | undefined {
    return this.#tasks.pop();
  }

  size(): number {
    return this.#tasks.length;
  }

  contains(task: Task<T>): boolean {
    return this.#tasks.includes(task);
  }

  clear(): void {
    this.#tasks.length = 0;
  }
}

const METHODS = ["push", "pop", "size", "contains", "clear"] as const;

/** The queue that the option `queueStrategy` names or is. */
export function createQueue(strategy: unknown): TaskQueue {
  if (strategy === "fifo") return new FIFOQueue();
  if (strategy === "lifo") return new LIFOQueue();
  if (typeof strategy === "string") throw new Error(`Unknown queue strategy: ${strategy}`);
  const queue = strategy as TaskQueue;
  for (const method of METHODS) {
    if (typeof queue[method] !== "function") {
      throw new Error(`Queue strategy must implement method: ${method}`);
    }
  }
  return queue;
}
