/** A task: its argument, where it stands, and how it ends. And the list in which tasks wait. */
import { AsyncResource } from "node:async_hooks";
import {
  isMovable,
  kQueueOptions,
  kValue,
  listOf,
  type Task,
  type TaskQueue,
  type TinypoolChannel,
} from "./common.ts";
import { CancelError } from "./errors.ts";

/** An AbortSignal, or an emitter of an event "abort". */
export type AnySignal = {
  readonly aborted?: boolean;
  addEventListener(name: "abort", listener: () => void, options?: { once: boolean }): void;
  removeEventListener(name: "abort", listener: () => void): void;
} | {
  once(name: "abort", listener: () => void): unknown;
  off(name: "abort", listener: () => void): unknown;
};

/** What a task is made of. */
export interface TaskParts {
  readonly task: unknown;
  readonly transferList: readonly unknown[];
  readonly filename: string;
  readonly name: string;
  readonly signal: AnySignal | null;
  readonly channel: TinypoolChannel | undefined;
  readonly triggerAsyncId: number;
  /** Called once. `isFailed` tells whether it failed: any value can be thrown. */
  readonly onDone: (error: unknown, isFailed: boolean, result: unknown) => void;
}

let lastId = 0;

/** A task with what queues read. */
export type QueuedTask = TaskInfo & Task;

/** An AsyncResource, so that diagnostic tools see which call a result belongs to. */
export class TaskInfo extends AsyncResource {
  readonly taskId: number = lastId++;
  readonly filename: string;
  readonly name: string;
  readonly transferList: readonly unknown[];
  readonly signal: AnySignal | null;
  readonly channel: TinypoolChannel | undefined;
  /** Its argument: queues read it. */
  task: unknown;
  readonly #onDone: TaskParts["onDone"];
  #isDone = false;
  #onAbort: (() => void) | undefined;

  constructor(parts: TaskParts) {
    const { triggerAsyncId } = parts;
    super("Tinypool.Task", { requireManualDestroy: true, triggerAsyncId });
    const { task, transferList, filename, name, signal, channel, onDone } = parts;
    this.task = isMovable(task) ? task[kValue] : task;
    this.transferList = isMovable(task) ? [...transferList, ...listOf(task)] : transferList;
    this.filename = filename;
    this.name = name;
    this.signal = signal;
    this.channel = channel;
    this.#onDone = onDone;
    const argument = this.task as { readonly [kQueueOptions]?: object } | null | undefined;
    // A class with such a key cannot be declared (isolatedDeclarations).
    (this as unknown as { [kQueueOptions]: object | null })[kQueueOptions] =
      argument?.[kQueueOptions] ?? null;
  }

  /** Takes the argument. */
  releaseTask(): unknown {
    const { task } = this;
    this.task = null;
    return task;
  }

  follow(onAbort: () => void): void {
    const signal = this.signal!;
    this.#onAbort = onAbort;
    if ("addEventListener" in signal) signal.addEventListener("abort", onAbort, { once: true });
    else signal.once("abort", onAbort);
  }

  cancel(): void {
    this.done(new CancelError(), true);
  }

  /** Settles it. Without effect if it is settled. */
  done(error: unknown, isFailed: boolean, result?: unknown): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.emitDestroy();
    const { signal } = this;
    if (signal !== null && this.#onAbort !== undefined) {
      if ("removeEventListener" in signal) signal.removeEventListener("abort", this.#onAbort);
      else signal.off("abort", this.#onAbort);
    }
    this.runInAsyncScope(this.#onDone, null, error, isFailed, result);
  }
}

/** The queue of a pool that is given none. */
export class ArrayTaskQueue implements TaskQueue {
  /** Those that wait, the next one first. */
  tasks: Task[] = [];

  get size(): number {
    return this.tasks.length;
  }

  shift(): Task | null {
    return this.tasks.shift() ?? null;
  }

  push(task: Task): void {
    this.tasks.push(task);
  }

  remove(task: Task): void {
    const index = this.tasks.indexOf(task);
    if (index >= 0) this.tasks.splice(index, 1);
  }

  cancel(): void {
    for (const task of this.tasks.splice(0).reverse()) task.cancel();
  }
}
