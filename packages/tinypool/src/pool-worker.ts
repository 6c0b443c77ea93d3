/** One worker: a pool of heddle with one thread or process, which is given up when that ends. */
import { channel } from "node:diagnostics_channel";
import { EventEmitter } from "node:events";
import process from "node:process";
import { inspect } from "node:util";
import type { Pool, PoolOptions, WorkerStartError } from "heddle";
import type { TinypoolChannel } from "./common.ts";
import { codeOf, exitedUnexpectedly, threadTermination, translated } from "./errors.ts";
import { heddle } from "./heddle.ts";
import type { FilledOptions } from "./options.ts";
import { type Outcome, packMessage, unpackMessage, type WorkerStart } from "./protocol.ts";
import type { TaskInfo } from "./task.ts";
import { poolOptions, workerUrl } from "./worker-options.ts";

type WorkerTasks = typeof import("./worker.ts");

const OF_WORKERS: readonly unknown[] = ["HEDDLE_WORKER_LOST", "HEDDLE_WORKER_START"];

/** A worker as `pool.threads` shows it: events "exit", "error" and "ready". */
export interface TinypoolWorker {
  /** "worker_threads" or "child_process". */
  readonly runtime: string;
  /** The id of the thread, or of the process. Undefined until it is known: of processes, and of threads on Bun, when they have started. */
  readonly threadId: number | undefined;
  /** Ends the worker. Resolves when it has ended. */
  terminate(): Promise<unknown>;
  /** Gives the worker another channel. */
  setChannel(channel: TinypoolChannel): void;
  /** Adds a listener. */
  // deno-lint-ignore no-explicit-any -- as Tinypool's own types
  on(event: string, listener: (...args: any[]) => void): unknown;
  /** Adds a listener for one event. */
  // deno-lint-ignore no-explicit-any -- as Tinypool's own types
  once(event: string, listener: (...args: any[]) => void): unknown;
  /** Dispatches an event. */
  emit(event: string, ...data: unknown[]): boolean;
  /** Without effect: tasks keep the program running, idle workers do not. */
  ref(): void;
  /** Without effect. */
  unref(): void;
}

export class PoolWorker extends EventEmitter implements TinypoolWorker {
  readonly runtime: FilledOptions["runtime"];
  readonly workerId: number;
  threadId: number | undefined;
  /** Heap of the worker after its last task, in bytes. Only where it is needed. */
  usedMemory = 0;
  /** Whether it has ended, or could not start. */
  isLost = false;
  readonly #pool: Pool<WorkerTasks>;
  readonly #start: WorkerStart;
  #channel: TinypoolChannel | undefined;
  #ended: Promise<void> | undefined;
  #exitCode: number | undefined;
  /** Of a process that has started and not ended. */
  #pid: number | undefined;

  constructor(options: FilledOptions, workerId: number) {
    super();
    const { runtime, workerData, filename, name, serialization, maxMemoryLimitBeforeRecycle } =
      options;
    this.runtime = runtime;
    this.workerId = workerId;
    const isProcess = runtime === "child_process";
    this.#start = {
      workerId,
      runtime,
      workerData: isProcess ? null : workerData,
      filename,
      name,
      hasOutcomes: isProcess || maxMemoryLimitBeforeRecycle !== undefined,
      isJson: isProcess && serialization !== "advanced",
    };
    this.#pool = this.#createPool(poolOptions(options, this.#start));
    this.#listen();
  }

  #createPool(options: PoolOptions): Pool<WorkerTasks> {
    const { runtime, isJson } = this.#start;
    const functions = {
      receive: (packed: unknown): void =>
        this.#channel?.postMessage?.(unpackMessage(packed, isJson)),
    };
    const host = runtime === "child_process" ? { host: { functions } } : {};
    // Tells the id of a thread before it has run, on Node and Deno.
    const started = channel("worker_threads");
    const onStart = (message: unknown): void => {
      this.threadId = (message as { readonly worker?: { readonly threadId: number } }).worker
        ?.threadId;
    };
    started.subscribe(onStart);
    try {
      return heddle().createPool({ ...options, ...host })<WorkerTasks>(workerUrl());
    } catch (error) {
      throw translated(error); // `workerData` cannot be cloned, say
    } finally {
      started.unsubscribe(onStart);
    }
  }

  #listen(): void {
    const pool = this.#pool;
    pool.addEventListener("workerExit", (event) => {
      const { exitCode, error } = event.detail;
      this.#exitCode = exitCode;
      this.#pid = undefined; // which another process may get
      if (error === undefined) return;
      event.preventDefault(); // the pool tells it
      this.#fail(error.cause, error);
    });
    pool.addEventListener("unhandledRejection", (event) => {
      event.preventDefault();
      this.#fail(event.detail.error);
    });
    pool.addEventListener("message", ({ detail }) => {
      this.#fail(new Error(`Unexpected message on Worker: ${inspect(detail.message)}`));
    });
    pool.ready.then(async () => {
      this.threadId ??= await pool.call.identify().catch(() => undefined);
      if (this.runtime === "child_process" && !this.isLost) this.#pid = this.threadId;
      if (!this.isLost && this.#ended === undefined) this.emit("ready");
    }, (error: WorkerStartError) => this.#fail(error.cause, error));
  }

  /** Of a process the pool learns no more than that it has ended, as with Tinypool; its error is printed as by the runtime. */
  #fail(cause: unknown, lost?: Error): void {
    if (this.isLost || this.#ended !== undefined) return;
    this.isLost = true;
    const isProcess = this.runtime === "child_process";
    if (isProcess && cause !== undefined) process.stderr.write(`${inspect(cause)}\n`);
    this.emit("error", isProcess || cause === undefined ? exitedUnexpectedly(lost) : cause);
  }

  /** Runs a task. Of a lost worker its event "error" comes first. */
  async run(task: TaskInfo): Promise<unknown> {
    try {
      return await this.#call(task);
    } catch (error) {
      if (this.#ended !== undefined) {
        await this.#ended;
        throw threadTermination();
      }
      if (OF_WORKERS.includes(codeOf(error))) await new Promise((resolve) => setTimeout(resolve));
      throw translated(error);
    }
  }

  async #call(task: TaskInfo): Promise<unknown> {
    const { filename, name, transferList } = task;
    const { isJson, hasOutcomes, runtime, ...own } = this.#start;
    const { run, runNamed, runInProcess } = this.#pool.call;
    if (task.channel !== undefined) this.setChannel(task.channel);
    const value = task.releaseTask();
    if (runtime === "child_process") {
      const argument = isJson ? JSON.stringify(value) : value;
      const settled = await runInProcess(argument, filename, name);
      const parsed = typeof settled === "string" ? JSON.parse(settled) as Outcome : settled;
      return this.#resultOf(parsed);
    }
    const transfer = { transfer: transferList };
    const isOwn = filename === own.filename && name === own.name;
    const called = isOwn
      ? (transferList.length > 0 ? run.with(transfer) : run)(value)
      : (transferList.length > 0 ? runNamed.with(transfer) : runNamed)(value, filename, name);
    const result: unknown = await called;
    return hasOutcomes ? this.#resultOf(result as Outcome) : result;
  }

  #resultOf({ result, error, usedMemory }: Outcome): unknown {
    this.usedMemory = usedMemory;
    if (error != null) throw error;
    return result;
  }

  setChannel(given: TinypoolChannel): void {
    const { runtime, isJson } = this.#start;
    if (runtime === "worker_threads") {
      for (const name of ["onMessage", "postMessage"] as const) {
        if (given[name] === undefined) continue;
        throw new Error(
          `{ runtime: 'worker_threads' } doesn't support channel.${name}. Use transferListItem for messages instead.`,
        );
      }
    }
    if (this.#channel !== given) this.#channel?.onClose?.();
    this.#channel = given;
    given.onMessage?.((message) => {
      if (this.#ended !== undefined) return;
      this.#pool.call.message(packMessage(message, isJson)).catch(() => {}); // the worker has ended
    });
  }

  terminate(): Promise<unknown> {
    return this.#ended ??= this.#end();
  }

  async #end(): Promise<void> {
    if (this.#pid !== undefined) {
      try {
        process.kill(this.#pid);
      } catch {
        // It has ended.
      }
    }
    await this.#pool.shutdown(0);
    this.#channel?.onClose?.();
    this.emit("exit", this.#exitCode ?? 0);
  }

  ref(): void {}
  unref(): void {}
}
