/** The tasks and workers of a `Tinypool`: which wait, which run where, and when a worker starts or ends. */
import type { Tinypool } from "./tinypool.ts";
import {
  AbortError,
  failedToTerminate,
  filenameNotProvided,
  noQueue,
  queueAtLimit,
  threadTermination,
} from "./errors.ts";
import { checkRuntime, type FilledOptions, pathOf, type RunOptions } from "./options.ts";
import { PoolWorker } from "./pool-worker.ts";
import { type AnySignal, type QueuedTask, TaskInfo } from "./task.ts";

/** A worker as the pool sees it. */
interface Slot {
  readonly worker: PoolWorker;
  readonly tasks: Set<TaskInfo>;
  /** Whether it takes tasks: the first ones of a pool do so while they start. */
  isReady: boolean;
  hasStarted: boolean;
  /** It gets no further task, and ends after those that it has. */
  isSpent: boolean;
  /** Settles when it has ended. */
  removed: Promise<void> | undefined;
  idle: NodeJS.Timeout | undefined;
}

export class ThreadPool {
  readonly options: FilledOptions;
  readonly startMs: number = performance.now();
  completed = 0;
  readonly #owner: Tinypool;
  readonly #slots = new Set<Slot>();
  /** Workers that are ending: they count for `maxThreads`, and keep their ids. */
  readonly #ending = new Set<Slot>();
  /** Abortable tasks that no worker took, before those of the queue. */
  readonly #skipped: QueuedTask[] = [];
  #isDestroyed = false;
  /** Workers that fail at their start are not replaced. */
  #startFails = false;

  constructor(owner: Tinypool, options: FilledOptions) {
    this.#owner = owner;
    this.options = options;
    // These take tasks from the start on.
    while (this.#slots.size < options.minThreads) this.#add().isReady = true;
  }

  get workers(): PoolWorker[] {
    return [...this.#slots].map(({ worker }) => worker);
  }

  get queueSize(): number {
    return Math.max(this.options.taskQueue.size - this.#pendingCapacity, 0);
  }

  /** Most tasks at once in a worker. */
  get #maxTasks(): number {
    return this.options.isolateWorkers ? 1 : this.options.concurrentTasksPerWorker;
  }

  /** Tasks that workers will take which are starting. */
  get #pendingCapacity(): number {
    let starting = 0;
    for (const { isReady } of this.#slots) if (!isReady) starting++;
    return starting * this.#maxTasks;
  }

  get #waiting(): number {
    return this.options.taskQueue.size + this.#skipped.length;
  }

  get #mayStart(): boolean {
    return this.#slots.size + this.#ending.size < this.options.maxThreads;
  }

  run(task: unknown, given: RunOptions): Promise<unknown> {
    const { transferList = [], signal = null, channel } = given;
    const filename = given.filename ?? this.options.filename;
    const name = given.name ?? this.options.name;
    if (filename === null) return Promise.reject(filenameNotProvided());
    if (signal !== null && "aborted" in signal && signal.aborted === true) {
      return Promise.reject(new AbortError());
    }
    this.#isDestroyed = false;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const info = new TaskInfo({
      task,
      transferList,
      filename: pathOf(filename),
      name,
      signal,
      channel,
      triggerAsyncId: this.#owner.asyncResource.asyncId(),
      onDone: (error, isFailed, result) => {
        this.completed++;
        if (isFailed) reject(error);
        else resolve(result);
      },
    }) as QueuedTask;
    if (signal !== null) this.#follow(info);
    try {
      const refusal = this.#admit(info);
      if (refusal !== undefined) info.done(refusal, true);
    } catch (error) {
      info.done(error, true); // a worker cannot be made with these options
    }
    return promise;
  }

  #follow(task: QueuedTask): void {
    task.follow(() => {
      const slot = [...this.#slots].find(({ tasks }) => tasks.has(task));
      task.done(new AbortError(), true);
      if (slot !== undefined) return void this.#remove(slot).catch(this.#tell);
      const index = this.#skipped.indexOf(task);
      if (index >= 0) this.#skipped.splice(index, 1);
      else this.options.taskQueue.remove(task);
    });
  }

  /** Gives a task to a worker, or lets it wait. Returns why it may not. */
  #admit(task: QueuedTask): Error | undefined {
    const { maxQueue, taskQueue } = this.options;
    if (taskQueue.size > 0) {
      const isFull = taskQueue.size >= maxQueue + this.#pendingCapacity;
      if (isFull) return maxQueue === 0 ? noQueue() : queueAtLimit();
      if (this.#mayStart) this.#add();
      taskQueue.push(task);
      return undefined;
    }
    const slot = this.#find(task.signal);
    const startsAnother = (slot === undefined || slot.tasks.size > 0) && this.#mayStart;
    if (startsAnother) this.#add();
    if (slot !== undefined) {
      this.#post(slot, task);
    } else {
      // Where each task ends its worker, the next one starts soon: that is a place, too.
      const isPlace = startsAnother || this.#ending.size > 0;
      if (maxQueue <= 0 && !isPlace) return noQueue();
      taskQueue.push(task);
    }
    return undefined;
  }

  #takes(slot: Slot, signal: AnySignal | null): boolean {
    const { isReady, isSpent, tasks } = slot;
    if (!isReady || isSpent || slot.removed !== undefined || tasks.size >= this.#maxTasks) {
      return false;
    }
    if (tasks.size === 0) return true;
    // A task that may be aborted has its worker for itself.
    return signal === null && [...tasks].every((task) => task.signal === null);
  }

  /** The worker with the fewest tasks that takes one more. */
  #find(signal: AnySignal | null): Slot | undefined {
    let found: Slot | undefined;
    for (const slot of this.#slots) {
      if (!this.#takes(slot, signal)) continue;
      if (slot.tasks.size === 0) return slot;
      if (found === undefined || slot.tasks.size < found.tasks.size) found = slot;
    }
    return found;
  }

  #post(slot: Slot, task: TaskInfo): void {
    clearTimeout(slot.idle);
    slot.tasks.add(task);
    const running = slot.worker.run(task);
    running.then(
      (result) => this.#onTaskDone(slot, task, () => task.done(null, false, result)),
      (error) => this.#onTaskDone(slot, task, () => task.done(error, true)),
    );
    if (this.#waiting === 0) this.#owner.emit("drain");
  }

  /** A worker that a task has used up ends before its task does, so that what comes next finds none of it. */
  #onTaskDone(slot: Slot, task: TaskInfo, settle: () => void): void {
    if (!slot.tasks.delete(task) || slot.removed !== undefined) return settle();
    const { isolateWorkers, maxMemoryLimitBeforeRecycle = Infinity } = this.options;
    if (isolateWorkers || slot.worker.usedMemory > maxMemoryLimitBeforeRecycle) {
      slot.isSpent = true;
    }
    if (!slot.isSpent) {
      this.#onAvailable(slot);
      settle();
    } else if (slot.tasks.size > 0) {
      settle();
    } else {
      this.#remove(slot).then(settle, (error) => task.done(error, true));
    }
  }

  /** Gives a worker what waits; without that it may end. */
  #onAvailable(slot: Slot): void {
    while (this.#waiting > 0 && this.#takes(slot, null)) {
      const task = this.#nextWaiting();
      if (task === null) break;
      if (this.#takes(slot, task.signal)) {
        this.#post(slot, task);
      } else {
        this.#skipped.push(task);
        return;
      }
    }
    const { minThreads, idleTimeout } = this.options;
    if (slot.tasks.size > 0 || this.#slots.size <= minThreads) return;
    clearTimeout(slot.idle);
    if (idleTimeout === Infinity) return;
    slot.idle = setTimeout(() => {
      const isIdle = slot.tasks.size === 0 && slot.removed === undefined;
      if (isIdle && this.#slots.size > minThreads) this.#remove(slot).catch(this.#tell);
    }, idleTimeout).unref();
  }

  #add(): Slot {
    const used = new Set([...this.#slots, ...this.#ending].map(({ worker }) => worker.workerId));
    let workerId = 1;
    while (used.has(workerId)) workerId++;
    const worker = new PoolWorker(this.options, workerId);
    const slot: Slot = {
      worker,
      tasks: new Set(),
      isReady: false,
      hasStarted: false,
      isSpent: false,
      removed: undefined,
      idle: undefined,
    };
    this.#slots.add(slot);
    worker.on("ready", () => {
      this.#startFails = false;
      slot.hasStarted = true;
      if (slot.isReady) return;
      slot.isReady = true;
      this.#onAvailable(slot);
    });
    worker.on("error", (error) => this.#onLost(slot, error));
    return slot;
  }

  #onLost(slot: Slot, error: unknown): void {
    if (slot.removed !== undefined) return;
    const tasks = [...slot.tasks];
    slot.tasks.clear();
    if (!slot.hasStarted) {
      this.#startFails = true;
      tasks.push(...this.#failing(1 - tasks.length));
    }
    this.#remove(slot).catch(this.#tell);
    for (const task of tasks) task.done(error, true);
    if (tasks.length === 0) this.#tell(error);
  }

  /** Tasks that fail with a worker that could not start: so many of those that wait, and all if no worker is left. */
  #failing(wanted: number): QueuedTask[] {
    const isLast = this.#slots.size === 1 && this.#ending.size === 0;
    const count = isLast ? this.#waiting : Math.max(0, Math.min(this.#waiting, wanted));
    return Array.from({ length: count }, () => this.#nextWaiting()).filter((task) => task !== null);
  }

  #nextWaiting(): QueuedTask | null {
    return this.#skipped.shift() ?? this.options.taskQueue.shift() as QueuedTask | null;
  }

  readonly #tell = (error: unknown): void => void this.#owner.emit("error", error);

  /** Ends a worker. Its tasks reject. Rejects if that takes too long, or if its teardown fails. */
  #remove(slot: Slot): Promise<void> {
    return slot.removed ??= this.#end(slot);
  }

  async #end(slot: Slot): Promise<void> {
    clearTimeout(slot.idle);
    this.#slots.delete(slot);
    this.#ending.add(slot);
    const { terminateTimeout } = this.options;
    const { promise, reject } = Promise.withResolvers<never>();
    const expire = (): void => {
      reject(failedToTerminate());
      void slot.worker.terminate(); // without its teardown
    };
    const timer = terminateTimeout ? setTimeout(expire, terminateTimeout) : undefined;
    const ended = this.#tearDown(slot).finally(() => slot.worker.terminate());
    try {
      await (timer === undefined ? ended : Promise.race([ended, promise]));
    } finally {
      clearTimeout(timer);
      this.#ending.delete(slot);
      this.#refill();
    }
  }

  async #tearDown({ worker }: Slot): Promise<void> {
    const { teardown, filename } = this.options;
    if (teardown === undefined || filename === null || worker.isLost) return;
    await worker.run(
      new TaskInfo({
        task: {},
        transferList: [],
        filename,
        name: teardown,
        signal: null,
        channel: undefined,
        triggerAsyncId: this.#owner.asyncResource.asyncId(),
        onDone: () => {},
      }),
    );
  }

  /** Starts what is missing, unless workers cannot start. */
  #refill(): void {
    if (this.#isDestroyed || (this.#startFails && this.#waiting === 0)) return;
    let missing = this.#waiting;
    for (const { tasks, isSpent } of this.#slots) {
      if (!isSpent) missing -= this.#maxTasks - tasks.size;
    }
    while (this.#mayStart && (missing > 0 || this.#slots.size < this.options.minThreads)) {
      this.#add();
      missing -= this.#maxTasks;
    }
  }

  cancelPendingTasks(): void {
    this.options.taskQueue.cancel();
    for (const task of this.#skipped.splice(0)) task.cancel();
  }

  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    for (const task of this.#skipped.splice(0)) task.done(threadTermination(), true);
    while (this.options.taskQueue.size > 0) {
      const task = this.options.taskQueue.shift() as QueuedTask | null;
      if (task === null) break;
      task.done(threadTermination(), true);
    }
    const ended = [...this.#slots, ...this.#ending].map((slot) => this.#remove(slot));
    await settleAll(ended);
  }

  async recycleWorkers({ runtime }: { runtime?: FilledOptions["runtime"] }): Promise<void> {
    const isOther = runtime !== undefined && runtime !== this.options.runtime;
    if (runtime !== undefined) {
      checkRuntime(runtime);
      this.options.runtime = runtime;
    }
    // They are fresh.
    if (this.options.isolateWorkers && !isOther) return;
    const ended: Promise<void>[] = [];
    for (const slot of this.#slots) {
      slot.isSpent = true;
      if (slot.tasks.size === 0) ended.push(this.#remove(slot));
    }
    await settleAll(ended);
  }
}

/** Waits for all, then rejects with the first error. */
async function settleAll(promises: readonly Promise<void>[]): Promise<void> {
  for (const settled of await Promise.allSettled(promises)) {
    if (settled.status === "rejected") throw settled.reason;
  }
}
