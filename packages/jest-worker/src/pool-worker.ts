/**
 * One worker: a pool of heddle with one thread or process, which heddle replaces when it ends. Calls whose worker has crashed are made
 * again, as often as `maxRetries` says.
 */
import { totalmem } from "node:os";
import type { PoolOptions } from "heddle";
import { errorOfDeath, type PoolError } from "./deaths.ts";
import { isFailure, unpackError } from "./failures.ts";
import { processOptions, type StartOptions, threadOptions } from "./fork-options.ts";
import { heddle, type TaskPool } from "./heddle.ts";
import { lossyCopy } from "./lossy.ts";
import type {
  ChildMessageCall,
  OnCustomMessage,
  OnEnd,
  OnStart,
  WorkerInterface,
  WorkerPoolOptions,
} from "./types.ts";
import type { Tell, WorkerStart } from "./worker.ts";

type OutputName = "stdout" | "stderr";
export type OnOutput = (stream: OutputName, text: string) => void;

const LOST = "HEDDLE_WORKER_LOST";
const NOT_STARTED = "HEDDLE_WORKER_START";
const NOT_CLONED = "HEDDLE_DATA_CLONE";

/** Time for a worker that has nothing left to do, and for one that is stopped by force, in milliseconds. */
const TEARDOWN_MS = 500;

/** Without this, heddle would close the pools of a program that keeps no reference to its `Worker`. */
const living = new Set<PoolWorker>();

export class PoolWorker implements WorkerInterface {
  readonly #id: number;
  readonly #path: string;
  readonly #options: WorkerPoolOptions;
  readonly #startOptions: StartOptions;
  readonly #onOutput: OnOutput;
  #pool: TaskPool;
  /** Whether this thread or process has had a call. */
  #isUsed = false;
  #isEnding = false;
  /** The pool has given up. */
  #hasFailed = false;
  /** While the memory of the worker is looked at, or it is started again. */
  #pause: Promise<void> | undefined;

  constructor(id: number, path: string, options: WorkerPoolOptions, onOutput: OnOutput) {
    const { enableWorkerThreads: isThread, forkOptions } = options;
    this.#id = id;
    this.#path = path;
    this.#options = options;
    this.#startOptions = isThread
      ? threadOptions(forkOptions)
      : processOptions(forkOptions, String(id + 1));
    this.#onOutput = onOutput;
    this.#pool = this.#start();
    living.add(this);
  }

  getWorkerId(): number {
    return this.#id;
  }

  send(
    request: ChildMessageCall,
    onStart: OnStart,
    onEnd: OnEnd,
    onCustomMessage: OnCustomMessage,
  ): void {
    onStart(this);
    const [, , method, args] = request;
    // Calls that run when the worker is ended never settle.
    this.#run(method, args, onCustomMessage).then(
      (value) => this.#isEnding || onEnd(null, value),
      (error) => this.#isEnding || onEnd(error, null),
    );
  }

  /** Loads the module and sets it up. */
  async prepare(): Promise<void> {
    await this.#repeat(() => this.#pool.call.prepare());
  }

  /** Ends the worker. True: it did not end by itself within that time. */
  async end(graceMs: number): Promise<boolean> {
    this.#isEnding = true;
    living.delete(this);
    let isForced = false;
    if (this.#isUsed) {
      const { promise: late, resolve: expire } = Promise.withResolvers<true>();
      const timer = setTimeout(() => expire(true), graceMs);
      const closed = this.#pool.call.close().then(() => false, () => false);
      isForced = await Promise.race([closed, late]);
      clearTimeout(timer);
    }
    await this.#pool.shutdown(0);
    return isForced;
  }

  async #run(method: string, args: unknown[], onMessage: OnCustomMessage): Promise<unknown> {
    if (this.#pause !== undefined) await this.#pause;
    if (this.#hasFailed) this.#pool = this.#start();
    const onTold = (message: unknown, isText: boolean): void => {
      if (this.#isEnding) return;
      try {
        onMessage(isText ? (JSON.parse(message as string) as [unknown])[0] : message);
      } catch (error) {
        // An error of the program's listener is not for the worker.
        queueMicrotask(() => {
          throw error;
        });
      }
    };
    const { isJson } = this.#startOptions;
    try {
      return await this.#repeat(() => {
        const tell: Tell = heddle().callback(onTold);
        return isJson ? this.#callText(method, args, tell) : this.#call(method, args, tell);
      });
    } finally {
      if (this.#options.idleMemoryLimit !== undefined && !this.#isEnding) {
        this.#pause = this.#checkMemory();
      }
    }
  }

  /** Makes a call, again if its worker has crashed. */
  async #repeat<T>(attempt: () => Promise<T>): Promise<T> {
    for (let crashes = 1;; crashes++) {
      this.#isUsed = true;
      try {
        return await attempt();
      } catch (error) {
        if (isFailure(error)) throw unpackError(error);
        const { code } = error as PoolError;
        this.#hasFailed ||= code === NOT_STARTED;
        if (code !== LOST || this.#isEnding) throw error;
        const { enableWorkerThreads: isThread, maxRetries } = this.#options;
        this.#isUsed = false;
        const end = errorOfDeath(error as PoolError, crashes, { isThread, maxRetries });
        if (end !== undefined) throw end;
      }
    }
  }

  /** What cannot be sent, in arguments or result, is left out. */
  async #call(method: string, args: unknown[], tell: Tell, isCopy = false): Promise<unknown> {
    const { call } = this.#pool;
    try {
      return await call.run(method, args, tell);
    } catch (error) {
      const { code, message } = error as PoolError;
      if (code !== NOT_CLONED) throw error;
      if (message.startsWith("result")) return await call.lastResultAgain();
      if (isCopy) throw error;
    }
    return await this.#call(method, lossyCopy(args) as unknown[], tell, true);
  }

  async #callText(method: string, args: unknown[], tell: Tell): Promise<unknown> {
    const result = await this.#pool.call.runText(textOf([method, args]), tell);
    return (typeof result === "string" ? JSON.parse(result) as readonly unknown[] : result)[0];
  }

  #start(): TaskPool {
    const { stdout, stderr, execPath, cwd, env, argv, execArgv, name } = this.#startOptions;
    const { enableWorkerThreads: isThread, resourceLimits, setupArgs } = this.#options;
    const id = isThread ? String(this.#id + 1) : undefined;
    const targets = { stdout, stderr };
    const url = new URL("./worker.js", import.meta.url);
    this.#hasFailed = this.#isUsed = false;
    const optionsWith = (data: WorkerStart): PoolOptions => ({
      threads: 1,
      spinMs: 0,
      startTimeoutMs: Infinity,
      teardownTimeoutMs: TEARDOWN_MS,
      workers: isThread ? "threads" : "processes",
      output: stdout === "inherit" && stderr === "inherit"
        ? "inherit"
        : (text, { stream }) => this.#print(targets[stream], stream, text),
      ...(!isThread && { process: definedOf({ cwd, execPath }) }),
      ...(isThread && Object.keys(resourceLimits).length > 0 && {
        resourceLimits: definedOf(resourceLimits),
      }),
      worker: {
        setup: url,
        data,
        ...definedOf({ env, argv, execArgv, name: name ?? "jest-worker" }),
      },
    });
    const start = (given: WorkerStart): TaskPool =>
      heddle().createPool(optionsWith(given))<typeof import("./worker.ts")>(url);
    const data: WorkerStart = { file: this.#path, setupArgs, id };
    let pool: TaskPool;
    try {
      pool = start(data);
    } catch (error) {
      if ((error as PoolError).code !== NOT_CLONED) throw error;
      pool = start(lossyCopy(data) as WorkerStart);
    }
    this.#watch(pool, isThread);
    return pool;
  }

  #print(target: StartOptions["stdout"], stream: OutputName, text: string): void {
    if (target === "pipe") this.#onOutput(stream, text);
    else if (target === "inherit") process[stream].write(text);
  }

  #watch(pool: TaskPool, isThread: boolean): void {
    pool.ready.catch(() => this.#hasFailed = true);
    pool.addEventListener("workerExit", (event) => {
      event.preventDefault();
      const { error } = event.detail;
      if (isThread || error === undefined) return;
      const { cause } = error;
      // Node prints the exception that ends a process.
      if (cause === undefined) return;
      const text = cause instanceof Error ? cause.stack ?? cause.message : String(cause);
      this.#print(this.#startOptions.stderr, "stderr", `${text}\n`);
    });
  }

  /** Starts a worker again whose heap has grown beyond the limit. */
  async #checkMemory(): Promise<void> {
    const { idleMemoryLimit: limit = Infinity, enableWorkerThreads: isThread } = this.#options;
    if (limit === 0 && isThread) return;
    try {
      const bytes = limit === 0 ? 1 : await this.#pool.call.heapBytes();
      if (bytes <= (limit <= 1 ? Math.floor(totalmem() * limit) : Math.floor(limit))) return;
      await this.#pool.shutdown(0);
      if (!this.#isEnding) this.#pool = this.#start();
    } catch {
      // It has ended by itself: the next call gets another one.
    } finally {
      this.#pause = undefined;
    }
  }
}

function textOf(value: readonly unknown[]): string {
  try {
    return JSON.stringify(value);
  } catch {
    return JSON.stringify(lossyCopy(value)); // says what is wrong
  }
}

/** Without the keys whose value is undefined, which heddle may refuse. */
function definedOf<T extends object>(values: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as ReturnType<typeof definedOf<T>>;
}
