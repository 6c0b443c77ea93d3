/** What users of Tinypool import beside the class: symbols, marks of values that move, and the types of queues and channels. */

declare global {
  namespace NodeJS {
    interface Process {
      /** In a worker of a pool: what it is. */
      __tinypool_state__: {
        isTinypoolWorker: boolean;
        isWorkerThread?: boolean;
        isChildProcess?: boolean;
        // deno-lint-ignore no-explicit-any -- whatever the program passes
        workerData: any;
        workerId: number;
      };
    }
  }
}

/** Key of what moves, in an object that can be moved. */
export const kTransferable: unique symbol = Symbol.for("Tinypool.transferable") as never;
/** Key of the value that arrives in its place. */
export const kValue: unique symbol = Symbol.for("Tinypool.valueOf") as never;
/** Key of what a task tells its queue. */
export const kQueueOptions: unique symbol = Symbol.for("Tinypool.queueOptions") as never;
/** Marks what `move` has returned. Registered, because the program and its workers load different files of this package. */
const kMovable: unique symbol = Symbol.for("heddle.tinypool.movable") as never;

/** Fields of the memory that Tinypool shares with its workers. Here only their names are left. */
export const kRequestCountField = 0;
/** See `kRequestCountField`. */
export const kResponseCountField = 1;
/** See `kRequestCountField`. */
export const kFieldCount = 2;

/** An object that says how it is moved. */
export interface Transferable {
  /** What moves: one object, or an array of them. */
  readonly [kTransferable]: object;
  /** What arrives. */
  readonly [kValue]: object;
}

/** A task as a queue sees it. */
export interface Task {
  /** What the argument has under this key; null: nothing. */
  readonly [kQueueOptions]: object | null;
  /** Rejects the task with a CancelError. */
  cancel(): void;
}

/** Where tasks wait for a worker. */
export interface TaskQueue {
  /** Number of tasks that wait. */
  readonly size: number;
  /** Takes the next task; null: none waits. */
  shift(): Task | null;
  /** Takes this task out. */
  remove(task: Task): void;
  /** Adds a task. */
  push(task: Task): void;
  /** Takes all tasks out and cancels them. */
  cancel(): void;
}

/** How the program and a worker that is a process exchange messages. */
export interface TinypoolChannel {
  /** Called with a function that sends a message to the worker. */
  // deno-lint-ignore no-explicit-any -- as Tinypool's own types
  onMessage?: (callback: (message: any) => void) => void;
  /** Called with each message of the worker. */
  // deno-lint-ignore no-explicit-any -- as Tinypool's own types
  postMessage?: (message: any) => void;
  /** Called when the worker ends, or gets another channel. */
  onClose?: () => void;
}

/** Messages of Tinypool itself on the channel of a process. heddle's processes have none: here only the type is left. */
export interface TinypoolWorkerMessage<T extends "port" | "pool" = "port" | "pool"> {
  /** Always true. */
  __tinypool_worker_message__: true;
  /** What sent it. */
  source: T;
}

/** Whether a value has both symbols. */
export function isTransferable(value: unknown): boolean {
  return typeof value === "object" && value !== null && kTransferable in value && kValue in value;
}

/** Whether `move` has returned it. */
export function isMovable(value: unknown): value is Transferable {
  return isTransferable(value) && (value as { readonly [kMovable]?: true })[kMovable] === true;
}

/** Marks an object with both symbols as one that moves. */
export function markMovable(value: object): void {
  Object.defineProperty(value, kMovable, { configurable: true, writable: true, value: true });
}

/** Whether a value has the methods of a queue. */
export function isTaskQueue(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !("size" in value)) return false;
  const { shift, remove, push } = value as Partial<TaskQueue>;
  return [shift, remove, push].every((each) => typeof each === "function");
}

/** A copy without what the prototype of all objects may have got. */
export function withNullPrototype<T extends object>(source: T): T {
  return Object.assign(Object.create(null), source) as T;
}

/** What moves with a value that `move` has returned. */
export function listOf({ [kTransferable]: moving }: Transferable): readonly unknown[] {
  return Array.isArray(moving) ? moving : [moving];
}

/** Marks a value so that it moves: an ArrayBuffer, a view of one, a MessagePort, or an object with both symbols. */
export function move<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  const moved: object = isTransferable(value) ? value : {
    get [kTransferable]() {
      return ArrayBuffer.isView(value) ? value.buffer : value;
    },
    get [kValue]() {
      return value;
    },
  };
  markMovable(moved);
  return moved as T;
}
