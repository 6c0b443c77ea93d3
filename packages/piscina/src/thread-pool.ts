/** The tasks and workers of a `Piscina`: which wait, which run where, and when a worker starts or ends. */
import { type Balancer, leastBusy, type PiscinaWorker, workerSymbol } from "./balancer.ts";
import {
  AbortError,
  closeTimeout,
  filenameNotProvided,
  noQueue,
  queueAtLimit,
  threadTermination,
} from "./errors.ts";
import { Histogram } from "./histogram.ts";
import type { FilledOptions } from "./options.ts";
import type { TaskQueue } from "./queues.ts";
import { type AnySignal, PoolTask, type QueuedTask } from "./task.ts";
import { fileURLToPath, now, startTimer } from "./runtime.ts";
import { PoolWorker } from "./pool-worker.ts";

export type Emit = (name: string, detail?: unknown) => void;

export interface FilledRunOptions {
  readonly transferList: readonly unknown[];
  readonly filename: string | null;
  readonly name: string | null;
  readonly signal: AnySignal | null;
}

export class ThreadPool {
  readonly options: FilledOptions;
  readonly startMs: number = now();
  readonly workers: Set<PoolWorker> = new Set();
  readonly runTimes: Histogram | undefined;
  readonly waitTimes: Histogram | undefined;
  completed = 0;
  needsDrain = false;
  readonly #emit: Emit;
  readonly #hasListener: (name: string) => boolean;
  readonly #queue: TaskQueue;
  /** Abortable tasks that no worker took, before those of the queue. */
  readonly #skipped: QueuedTask[] = [];
  readonly #balancer: Balancer;
  readonly #capacity: number;
  #readyCache: readonly PoolWorker[] | undefined;
  #candidatesCache: readonly PiscinaWorker[] | undefined;
  #isDrainChecked = false;
  #isStarting = true;
  #isClosing = false;
  #isDestroying = false;
  /** Workers that fail at their start are not replaced. */
  #startFails = false;
  /** Of those who wait until no task runs. */
  readonly #onTaskDone = new Set<() => void>();

  constructor(options: FilledOptions, emit: Emit, hasListener: (name: string) => boolean) {
    const { concurrentTasksPerWorker: most, filename } = options;
    this.options = options;
    options.filename = filename === null ? null : pathOf(filename);
    this.#emit = emit;
    this.#hasListener = hasListener;
    this.#queue = options.taskQueue;
    this.#balancer = options.loadBalancer ?? leastBusy(most);
    this.#capacity = options.maxThreads * most;
    if (options.recordTiming) {
      this.runTimes = new Histogram();
      this.waitTimes = new Histogram();
    }
    this.#startMinimum();
    this.#isStarting = false;
  }

  get queueSize(): number {
    return Math.max(this.#waiting - this.#pendingCapacity, 0);
  }

  get idleThreads(): number {
    return this.#ready.filter(({ usage }) => usage === 0).length;
  }

  get #waiting(): number {
    return this.#queue.size + this.#skipped.length;
  }

  get #ready(): readonly PoolWorker[] {
    return this.#readyCache ??= [...this.workers].filter(({ isReady }) => isReady);
  }

  get #candidates(): readonly PiscinaWorker[] {
    return this.#candidatesCache ??= this.#ready.map((worker) => worker.interface);
  }

  /** Those that start as well, after the others: tasks that wait go to the workers that start for them. */
  get #allCandidates(): readonly PiscinaWorker[] {
    if (this.#ready.length === this.workers.size) return this.#candidates;
    const starting = [...this.workers].filter(({ isReady }) => !isReady);
    return [...this.#candidates, ...starting.map((worker) => worker.interface)];
  }

  /** Workers came, went, or became ready. */
  #forgetReady(): void {
    this.#readyCache = this.#candidatesCache = undefined;
  }

  /** Tasks that workers will take which are starting. */
  get #pendingCapacity(): number {
    return (this.workers.size - this.#ready.length) * this.options.concurrentTasksPerWorker;
  }

  run(value: unknown, options: FilledRunOptions): Promise<unknown> {
    const { transferList, filename: given } = options;
    const filename = given === null ? this.options.filename : pathOf(given);
    if (filename === null) return Promise.reject(filenameNotProvided());
    const name = options.name ?? this.options.name;
    const signal = this.#isClosing || this.#isDestroying ? closedSignal() : options.signal;
    const onDone = this.#onDone;
    const task = new PoolTask(
      value,
      transferList,
      filename,
      name,
      signal,
      now(),
      onDone,
    ) as QueuedTask;
    if (signal !== null && !this.#follow(task, signal)) return task.promise;
    this.#admit(task);
    this.#checkDrainSoon();
    return task.promise;
  }

  readonly #onDone = ({ started }: PoolTask): void => {
    this.completed++;
    if (started > 0) this.runTimes?.record(now() - started);
    this.#checkDrainSoon();
  };

  /** False: the signal has been aborted already. */
  #follow(task: QueuedTask, signal: AnySignal): boolean {
    const { reject } = task;
    if (signal.aborted === true) {
      reject(new AbortError(signal.reason));
      return false;
    }
    task.follow(() => {
      reject(new AbortError(signal.reason));
      this.#abort(task);
    });
    return true;
  }

  #abort(task: QueuedTask): void {
    const worker = [...this.workers].find(({ tasks }) => tasks.has(task));
    if (worker === undefined) {
      this.#queue.remove(task);
      const index = this.#skipped.indexOf(task);
      if (index >= 0) this.#skipped.splice(index, 1);
    } else {
      void this.#remove(worker);
      this.#startMinimum();
    }
  }

  #admit(task: QueuedTask): void {
    const { maxQueue, maxThreads } = this.options;
    if (this.#queue.size > 0) {
      if (this.#queue.size >= maxQueue + this.#pendingCapacity) {
        task.reject(maxQueue === 0 ? noQueue() : queueAtLimit());
        return;
      }
      this.#queue.push(task);
      if (this.workers.size < maxThreads) this.#start();
      return;
    }
    if (this.#distribute(task, this.#candidates)) return;
    if (this.workers.size < maxThreads) this.#start();
    if (maxQueue <= 0 && this.#pendingCapacity === 0) task.reject(noQueue());
  }

  /** Gives a task to a worker. False: none takes it, and it waits. */
  #distribute(task: QueuedTask, candidates: readonly PiscinaWorker[]): boolean {
    if (task.isAborted) return true;
    const chosen = this.options.loadBalancer === undefined
      ? this.#balancer(task, candidates)
      : this.#balancer(task.interface, [...candidates]); // which the program may sort in place
    const worker = chosen?.[workerSymbol] as PoolWorker | undefined;
    if (worker !== undefined && this.workers.has(worker)) {
      task.started = now();
      this.waitTimes?.record(task.started - task.created);
      worker.post(task, now);
      this.#checkDrainSoon();
      return true;
    }
    const isLast = !this.options.stricterFIFO;
    if (task.signal !== null) {
      if (isLast) this.#skipped.push(task);
      else this.#skipped.unshift(task);
    } else if (isLast || this.#queue.unshift === undefined) this.#queue.push(task);
    else this.#queue.unshift(task);
    return false;
  }

  #onAvailable(worker: PoolWorker): void {
    while (this.#waiting > 0 && !this.#isFull) {
      const task = this.#nextWaiting();
      if (task === null) break; // a queue of the program's own that miscounts
      if (this.#distribute(task, this.#allCandidates)) continue;
      if (this.workers.size >= this.options.maxThreads || this.#isClosing) break;
      this.#start();
    }
    const { idleTimeout, minThreads } = this.options;
    if (idleTimeout === Infinity || worker.usage > 0 || this.workers.size <= minThreads) return;
    worker.whenIdle(idleTimeout, () => {
      if (worker.usage === 0 && this.workers.size > minThreads) this.#remove(worker);
    });
  }

  /** Whether no worker would take a task, so that none leaves its place in the queue. A balancer of the program is asked. */
  get #isFull(): boolean {
    const { loadBalancer, maxThreads, concurrentTasksPerWorker: most } = this.options;
    if (loadBalancer !== undefined || this.workers.size < maxThreads) return false;
    for (const { usage } of this.workers) if (usage < most) return false;
    return true;
  }

  #startMinimum(): void {
    if (this.#isClosing || this.#isDestroying) return;
    while (this.workers.size < this.options.minThreads) this.#start();
  }

  #start(): void {
    if (this.#isClosing) return;
    const isFirst = this.#isStarting;
    const worker = new PoolWorker(this.options, {
      onReady: (ready) => {
        this.#forgetReady();
        if (isFirst) return;
        this.#announce(ready);
        this.#onAvailable(ready);
      },
      onTaskDone: (free) => {
        this.#onAvailable(free);
        for (const check of this.#onTaskDone) check();
      },
      onEnd: (ended, error, isExit) => this.#onEnd(ended, error, isExit),
      onMessage: (message) => this.#tell("message", message),
    });
    this.workers.add(worker);
    this.#forgetReady();
    if (!isFirst) return;
    // The first ones take tasks at once. Listeners are added after the constructor.
    worker.isReady = true;
    this.#forgetReady();
    queueMicrotask(() => {
      if (!this.workers.has(worker)) return;
      this.#announce(worker);
      this.#onAvailable(worker);
    });
  }

  /** Emits "workerCreate" once for each worker, before its "workerDestroy", so that programs that count them are right. */
  #announce(worker: PoolWorker): void {
    if (worker.isAnnounced) return;
    worker.isAnnounced = true;
    this.#tell("workerCreate", worker.interface);
  }

  #remove(worker: PoolWorker): Promise<void> {
    this.workers.delete(worker);
    this.#forgetReady();
    const wasDestroyed = worker.isDestroyed;
    const gone = worker.destroy();
    if (!wasDestroyed) {
      this.#announce(worker);
      this.#tell("workerDestroy", worker.interface);
    }
    return gone;
  }

  #onEnd(worker: PoolWorker, error: unknown, isExit: boolean): void {
    if (!this.workers.has(worker) || this.#isDestroying) return;
    const tasks = [...worker.tasks];
    worker.tasks.clear();
    void this.#remove(worker);
    if (worker.isReady && !this.#startFails) this.#startMinimum();
    else this.#startFails = true;
    if (!worker.hasStarted) tasks.push(...this.#failWith(tasks.length));
    for (const task of tasks) task.done(error, true);
    if (tasks.length === 0 && !isExit) this.#tell("error", error);
    for (const check of this.#onTaskDone) check();
  }

  /** Tasks that fail with a worker that could not start: one, and all that wait if no worker is left. */
  #failWith(ownTasks: number): QueuedTask[] {
    const count = this.workers.size === 0 ? this.#waiting : Math.min(this.#waiting, 1 - ownTasks);
    return Array.from({ length: Math.max(0, count) }, () => this.#nextWaiting())
      .filter((task) => task !== null);
  }

  #nextWaiting(): QueuedTask | null {
    return this.#skipped.shift() ?? this.#queue.shift() as QueuedTask | null;
  }

  /** Emits an event. What a listener throws, or an error without one, is an uncaught exception, as from any emitter. */
  #tell(name: string, detail: unknown): void {
    try {
      this.#emit(name, detail);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  #checkDrainSoon(): void {
    if (this.#isDrainChecked) return;
    this.#isDrainChecked = true;
    queueMicrotask(this.#checkDrain);
  }

  readonly #emitNeedsDrain = (): void => {
    if (this.#hasListener("needsDrain")) this.#emit("needsDrain");
  };

  readonly #emitDrain = (): void => {
    if (this.#hasListener("drain")) this.#emit("drain");
  };

  readonly #checkDrain = (): void => {
    this.#isDrainChecked = false;
    let usage = 0;
    for (const worker of this.#ready) {
      if (worker.usage !== Infinity) usage += worker.usage;
    }
    const { maxQueue } = this.options;
    // A full queue as well: while workers start, a source that has paused for it would wait for ever.
    if (usage === this.#capacity || (maxQueue > 0 && this.#waiting >= maxQueue)) {
      this.needsDrain = true;
      queueMicrotask(this.#emitNeedsDrain);
    } else if (usage < this.#capacity && this.needsDrain) {
      this.needsDrain = false;
      queueMicrotask(this.#emitDrain);
    }
  };

  /** Ends all tasks and workers now. */
  async destroy(): Promise<void> {
    this.#isDestroying = true;
    this.#rejectWaiting(threadTermination);
    await Promise.all([...this.workers].map((worker) => this.#remove(worker)));
    this.#isDestroying = false;
  }

  #rejectWaiting(error: () => unknown): void {
    while (this.#waiting > 0) {
      const task = this.#nextWaiting();
      if (task === null) break;
      task.done(error(), true);
    }
  }

  /** Waits for the tasks; `isForced`: only for those that run. */
  async close(isForced: boolean): Promise<void> {
    this.#isClosing = true;
    if (isForced) this.#rejectWaiting(() => new AbortError("pool is closed"));
    const { promise: drained, resolve } = Promise.withResolvers<"drained">();
    const check = (): void => {
      if ([...this.workers].every(({ tasks }) => tasks.size === 0)) resolve("drained");
    };
    this.#onTaskDone.add(check);
    check();
    const { promise: late, resolve: expire } = Promise.withResolvers<"late">();
    const timer = startTimer(() => expire("late"), this.options.closeTimeout);
    try {
      if (await Promise.race([drained, late]) === "late") this.#emit("error", closeTimeout());
    } finally {
      timer.clear();
      this.#onTaskDone.delete(check);
      await this.destroy();
      this.#emit("close");
      this.#isClosing = false;
    }
  }
}

function closedSignal(): AbortSignal {
  const controller = new AbortController();
  controller.abort("queue is being terminated");
  return controller.signal;
}

const pathOf = (filename: string): string =>
  filename.startsWith("file:") ? fileURLToPath(filename) : filename;
