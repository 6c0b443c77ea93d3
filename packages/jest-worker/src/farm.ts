/** Gives calls to workers, one at a time each: in the order of a queue, and calls of one key to one worker. */
import { FifoQueue } from "./queues.ts";
import {
  CHILD_MESSAGE_CALL,
  type OnCustomMessage,
  type PromiseWithCustomMessage,
  type QueueChildMessage,
  type WorkerCallback,
  type WorkerFarmOptions,
  type WorkerInterface,
} from "./types.ts";

type FarmOptions = Pick<
  WorkerFarmOptions,
  "computeWorkerKey" | "taskQueue" | "workerSchedulingPolicy"
>;

export class Farm {
  readonly #count: number;
  readonly #send: WorkerCallback;
  readonly #keyOf: FarmOptions["computeWorkerKey"];
  readonly #queue: NonNullable<FarmOptions["taskQueue"]>;
  readonly #isInOrder: boolean;
  readonly #workers = new Map<string, WorkerInterface>();
  readonly #busy = new Set<number>();
  #next = 0;

  constructor(count: number, send: WorkerCallback, options: FarmOptions) {
    this.#count = count;
    this.#send = send;
    this.#keyOf = options.computeWorkerKey;
    this.#queue = options.taskQueue ?? new FifoQueue();
    this.#isInOrder = options.workerSchedulingPolicy === "in-order";
  }

  call(method: string, args: unknown[]): PromiseWithCustomMessage<unknown> {
    const listeners = new Set<OnCustomMessage>();
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    try {
      const key = this.#keyOf?.(method, ...args) ?? undefined;
      const worker = key === undefined ? undefined : this.#workers.get(key);
      const task: QueueChildMessage = {
        request: [CHILD_MESSAGE_CALL, false, method, args],
        onStart: (taker) => {
          if (key !== undefined) this.#workers.set(key, taker);
        },
        onEnd: (error, result) => {
          listeners.clear();
          if (error === null || error === undefined) resolve(result);
          else reject(error);
        },
        onCustomMessage: (message) => {
          for (const listener of listeners) listener(message);
        },
      };
      if (worker === undefined) this.#add(task);
      else {
        this.#queue.enqueue(task, worker.getWorkerId());
        this.#process(worker.getWorkerId());
      }
    } catch (error) {
      reject(error);
    }
    return Object.assign(promise, {
      UNSTABLE_onCustomMessage: (listener: OnCustomMessage) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    });
  }

  /** A call for any worker: the first free one takes it, or another one before it. */
  #add(task: QueueChildMessage): void {
    this.#queue.enqueue(task);
    const first = this.#isInOrder ? 0 : this.#next++;
    for (let i = 0; i < this.#count && !task.request[1]; i++) {
      this.#process((first + i) % this.#count);
    }
  }

  #process(workerId: number): void {
    if (this.#busy.has(workerId)) return;
    const task = this.#queue.dequeue(workerId);
    if (!task) return;
    const { request, onStart, onEnd, onCustomMessage } = task;
    if (request[1]) throw new Error("Queue implementation returned processed task");
    request[1] = true;
    this.#busy.add(workerId);
    let isOver = false;
    this.#send(workerId, request, onStart, (error, result) => {
      if (isOver) return;
      isOver = true;
      onEnd(error, result);
      this.#busy.delete(workerId);
      this.#process(workerId);
    }, onCustomMessage);
  }
}
