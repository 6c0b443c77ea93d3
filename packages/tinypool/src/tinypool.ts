/** The class `Tinypool`, with the API of versions 1 and 2. */
import { EventEmitterAsyncResource } from "node:events";
import process from "node:process";
import { kQueueOptions, kTransferable, kValue, move, withNullPrototype } from "./common.ts";
import { type FilledOptions, fillOptions, type Options, type RunOptions } from "./options.ts";
import type { TinypoolWorker } from "./pool-worker.ts";
import { ThreadPool } from "./thread-pool.ts";

/** The version of Tinypool whose API this is. */
const VERSION = "2.2.0";

/** A pool of threads or processes that run functions of modules. Events: "drain" when no task waits any more, and "error". */
export class Tinypool extends EventEmitterAsyncResource {
  readonly #pool: ThreadPool;

  /** Starts `minThreads` workers. Throws RangeError and TypeError for options that cannot be. */
  constructor(options: Options = {}) {
    super({ name: "Tinypool" });
    this.#pool = new ThreadPool(this, fillOptions(options));
  }

  /** Runs the function with this argument. The promise settles as it does. */
  // deno-lint-ignore no-explicit-any -- as Tinypool's own types
  run(task: any, options: RunOptions = {}): Promise<any> {
    return this.#pool.run(task, withNullPrototype(options));
  }

  /** Ends the workers. Their tasks, and those that wait, are rejected. */
  async destroy(): Promise<void> {
    await this.#pool.destroy();
    this.emitDestroy();
  }

  /** Replaces the workers: idle ones now, others when their tasks have ended. `runtime`: what the new ones are. */
  async recycleWorkers(options: Pick<Options, "runtime"> = {}): Promise<void> {
    await this.#pool.recycleWorkers(withNullPrototype(options));
  }

  /** Rejects the tasks that wait with a CancelError. Those that run go on. */
  cancelPendingTasks(): void {
    this.#pool.cancelPendingTasks();
  }

  /** The options with their defaults. */
  get options(): FilledOptions {
    return this.#pool.options;
  }

  /** The workers. */
  get threads(): TinypoolWorker[] {
    return this.#pool.workers;
  }

  /** Tasks that wait, beyond those that starting workers will take. */
  get queueSize(): number {
    return this.#pool.queueSize;
  }

  /** Tasks that have ended. */
  get completed(): number {
    return this.#pool.completed;
  }

  /** Milliseconds since the pool was created. */
  get duration(): number {
    return performance.now() - this.#pool.startMs;
  }

  /** True in a thread of a pool. */
  static get isWorkerThread(): boolean {
    return process.__tinypool_state__?.isWorkerThread ?? false;
  }

  /** In a thread: the option `workerData`. */
  // deno-lint-ignore no-explicit-any -- whatever the program passes
  static get workerData(): any {
    return process.__tinypool_state__?.workerData ?? undefined;
  }

  /** The version of Tinypool whose API this is. */
  static get version(): string {
    return VERSION;
  }

  /** Marks a value so that it moves: an ArrayBuffer, a view of one, a MessagePort, or an object with both symbols. */
  static move<T>(value: T): T {
    return move(value);
  }

  /** Key of what moves. */
  static get transferableSymbol(): symbol {
    return kTransferable;
  }

  /** Key of what arrives. */
  static get valueSymbol(): symbol {
    return kValue;
  }

  /** Key of what a task tells its queue. */
  static get queueOptionsSymbol(): symbol {
    return kQueueOptions;
  }
}
