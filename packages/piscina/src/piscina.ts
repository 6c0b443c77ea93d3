/** The class `Piscina`, with the API of version 5.3 on heddle's workers. */
import { workerInfo } from "heddle";
import { availableParallelism, EventEmitterAsyncResource, now } from "./runtime.ts";
import type { HistogramSummary } from "./histogram.ts";
import { type FilledOptions, fillOptions, type PiscinaOptions } from "./options.ts";
import { ArrayTaskQueue, FixedQueue } from "./queues.ts";
import { move, queueOptionsSymbol, transferableSymbol, valueSymbol } from "./symbols.ts";
import { ownWorkerData } from "./worker-data.ts";
import type { AnySignal } from "./task.ts";
import { type FilledRunOptions, ThreadPool } from "./thread-pool.ts";
import type { PoolThread } from "./pool-worker.ts";

/** The version of Piscina whose API this is. */
export const version = "5.3.2";

/** Options of `run`. */
export interface RunOptions {
  /** Objects that move with the argument. */
  readonly transferList?: readonly unknown[] | undefined;
  /** The module, in place of the pool's. */
  readonly filename?: string | null;
  /** The export, in place of the pool's. */
  readonly name?: string | null;
  /** Its abort rejects the task with an AbortError and stops the worker that runs it. */
  readonly signal?: AnySignal | null;
}

/** Times of tasks, in milliseconds; undefined without `recordTiming`. */
export interface PiscinaHistogram {
  /** From when a worker gets a task until it is done. */
  readonly runTime: HistogramSummary;
  /** From `run()` until a worker gets the task. */
  readonly waitTime: HistogramSummary;
  /** Forgets the run times. */
  resetRunTime(): void;
  /** Forgets the waiting times. */
  resetWaitTime(): void;
}

/** True in a worker of a pool. */
export const isWorkerThread: boolean = workerInfo() !== undefined;
/** In a worker: the option `workerData`. */
// deno-lint-ignore no-explicit-any -- whatever the program passes
export const workerData: any = ownWorkerData();

/** For calls without options, and what they mean. */
const NO_OPTIONS: RunOptions = {};
const PLAIN: FilledRunOptions = { transferList: [], filename: null, name: null, signal: null };

type Kind = string | null | undefined;

/** Why an option of `run` is refused, as Piscina says it. */
function problemOf({ transferList, filename, name, signal }: RunOptions): string | undefined {
  const isText = (value: Kind): boolean => value == null || typeof value === "string";
  if (transferList !== undefined && !Array.isArray(transferList)) {
    return "transferList argument must be an Array";
  }
  if (!isText(filename)) return "filename argument must be a string";
  if (!isText(name)) return "name argument must be a string";
  if (signal != null && typeof signal !== "object") return "signal argument must be an object";
  return undefined;
}

/** A pool of workers that run the functions of modules. */
// deno-lint-ignore no-explicit-any -- as Piscina's own types
export class Piscina<Value = any, Result = any> extends EventEmitterAsyncResource {
  readonly #pool: ThreadPool;
  #histogram: PiscinaHistogram | undefined;

  /** Starts `minThreads` workers. Throws TypeError and RangeError for options that Piscina refuses. */
  constructor(options: PiscinaOptions = {}) {
    super({ name: "Piscina" });
    const filled = fillOptions(options, availableParallelism());
    this.#pool = new ThreadPool(
      filled,
      (name, detail) => void this.emit(name, detail),
      (name) => this.listenerCount(name) > 0,
    );
  }

  /** Runs the function with this argument. The promise settles as it does. */
  run(task: Value, options: RunOptions = NO_OPTIONS): Promise<Result> {
    if (options === NO_OPTIONS) return this.#pool.run(task, PLAIN) as Promise<Result>;
    if (typeof options !== "object" || options === null) {
      return Promise.reject(new TypeError("options must be an object"));
    }
    const given: RunOptions = { __proto__: null, ...options } as RunOptions;
    const problem = problemOf(given);
    if (problem !== undefined) return Promise.reject(new TypeError(problem));
    const { transferList = [], filename = null, name = null, signal = null } = given;
    return this.#pool.run(task, { transferList, filename, name, signal }) as Promise<Result>;
  }

  /** Waits for the tasks, then ends the workers. `force`: tasks that wait are rejected. */
  async close(options: { readonly force?: boolean } = {}): Promise<void> {
    if (typeof options !== "object" || options === null) {
      throw new TypeError("options must be an object");
    }
    const { force = false } = { __proto__: null, ...options } as { readonly force?: boolean };
    if (typeof force !== "boolean") throw new TypeError("force argument must be a boolean");
    await this.#pool.close(force);
  }

  /** Ends the workers. Their tasks, and those that wait, are rejected. */
  destroy(): Promise<void> {
    return this.#pool.destroy();
  }

  /** `close()`, and does not wait for it. */
  [Symbol.dispose](): void {
    void this.close();
  }

  /** `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Maximum number of workers. */
  get maxThreads(): number {
    return this.#pool.options.maxThreads;
  }

  /** Minimum number of workers. */
  get minThreads(): number {
    return this.#pool.options.minThreads;
  }

  /** The options with their defaults. */
  get options(): FilledOptions {
    return this.#pool.options;
  }

  /** The workers' threads: their ids, `terminate()`, and an event "exit". */
  get threads(): PoolThread[] {
    return [...this.#pool.workers].map(({ thread }) => thread);
  }

  /** Workers that have no task. */
  get idleThreads(): number {
    return this.#pool.idleThreads;
  }

  /** Tasks that wait, beyond those that starting workers will take. */
  get queueSize(): number {
    return this.#pool.queueSize;
  }

  /** Tasks that have ended. */
  get completed(): number {
    return this.#pool.completed;
  }

  /** Times of tasks, in milliseconds. */
  get histogram(): PiscinaHistogram {
    const { runTimes, waitTimes } = this.#pool;
    return this.#histogram ??= {
      get runTime() {
        return runTimes?.summary as HistogramSummary;
      },
      get waitTime() {
        return waitTimes?.summary as HistogramSummary;
      },
      resetRunTime: () => runTimes?.reset(),
      resetWaitTime: () => waitTimes?.reset(),
    };
  }

  /** Run time of all tasks, relative to what `maxThreads` workers could have run. */
  get utilization(): number {
    const { runTimes, options: { maxThreads } } = this.#pool;
    if (runTimes === undefined || runTimes.count === 0) return 0;
    return runTimes.meanMs * runTimes.count / (this.duration * maxThreads);
  }

  /** Milliseconds since the pool was created. */
  get duration(): number {
    return now() - this.#pool.startMs;
  }

  /** Whether all workers have all tasks that they take at once, or the queue is full. */
  get needsDrain(): boolean {
    return this.#pool.needsDrain;
  }

  /** True in a worker of a pool. */
  static get isWorkerThread(): boolean {
    return isWorkerThread;
  }

  /** In a worker: the option `workerData`. */
  // deno-lint-ignore no-explicit-any -- whatever the program passes
  static get workerData(): any {
    return workerData;
  }

  /** The version of Piscina whose API this is. */
  static get version(): string {
    return version;
  }

  /** This class. */
  static get Piscina(): typeof Piscina {
    return this; // a name would make bundlers rename the class
  }

  /** The queue that is the default. */
  static get FixedQueue(): typeof FixedQueue {
    return FixedQueue;
  }

  /** A queue that is an array. */
  static get ArrayTaskQueue(): typeof ArrayTaskQueue {
    return ArrayTaskQueue;
  }

  /** Marks a value that moves. */
  static move: typeof move = move;

  /** Key of what moves. */
  static get transferableSymbol(): typeof transferableSymbol {
    return transferableSymbol;
  }

  /** Key of what arrives. */
  static get valueSymbol(): typeof valueSymbol {
    return valueSymbol;
  }

  /** Key of what a task tells its queue. */
  static get queueOptionsSymbol(): typeof queueOptionsSymbol {
    return queueOptionsSymbol;
  }
}
