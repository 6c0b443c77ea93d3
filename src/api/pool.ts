/**
 * `createPool`: locates the tasks, creates a pool (`pool-core.ts`) and returns its public handle with the typed calls
 * (`call-proxy.ts`).
 */
import { type CallProxy, createCallProxy } from "./call-proxy.ts";
import { isRecord, show } from "./checks.ts";
import { describeSignature, type Signature } from "../codec/struct/signature.ts";
import type { TaskSource } from "../lane/start-data.ts";
import { InvalidArgumentError, NestedPoolError } from "../errors.ts";
import {
  checkShutdown,
  type PoolOptions,
  resolveOptions,
  type ShutdownOptions,
} from "./options.ts";
import { AwakeCount } from "../sync/awake-count.ts";
import { PoolCore } from "./pool-core.ts";
import type { Pool, PoolStatistics } from "./pool-types.ts";
import { callerOf } from "../realm/call-site.ts";
import { workerRealm } from "../realm/worker-realm.ts";
import { workerEntry } from "../worker-entry.ts";
import { currentRuntime } from "../runtimes/current.ts";
import type { Runtime } from "../runtimes/runtime.ts";
import { declaredBy, functionOf, locateTask, settingsOfTask } from "./task-map.ts";
import type { TaskMap } from "./task.ts";
import type { PoolSpec } from "./wiring.ts";

/** Default time for calls in flight to finish in `shutdown()`. */
const DRAIN_MS = 5000;

/**
 * False in heddle's workers, true everywhere else, also in other worker threads (such as a test runner's) and in modules
 * that are not the entry of the program. Use it to guard code that must not run when workers import the module. Use
 * `import.meta.main` to check whether a module is the entry.
 */
export const isMain: boolean = workerRealm() === undefined;

/**
 * Starts workers for a set of tasks.
 *
 * Workers import the modules of the tasks. If such a module calls `createPool`, guard the call with `if (isMain)`. An
 * idle pool does not keep the process running (option `keepAlive`); calls in flight do.
 *
 * @example
 * ```ts
 * import { createPool, isMain } from "heddle";
 *
 * export const add = (a: number, b: number) => a + b;
 *
 * if (isMain) {
 *   const pool = createPool({ threads: 2 })({ add });
 *   console.log(await pool.call.add(1, 2));
 *   await pool.shutdown();
 * }
 * ```
 */
export function createPool(
  options: PoolOptions = {},
): <Tasks extends TaskMap>(tasks: Tasks) => Pool<Tasks> {
  const realm = workerRealm();
  if (realm?.isLoading === true) throw new NestedPoolError();
  if (arguments.length > 1) {
    throw new InvalidArgumentError(
      "createPool() takes only options; its result takes the tasks: createPool(options)(tasks).",
    );
  }
  const runtime = currentRuntime;
  const resolved = resolveOptions(options, runtime);
  const caller = resolved.moduleUrl ?? callerOf(createPool);
  return (tasks) => {
    const signatures = Object.values(Object(tasks) as TaskMap).map(declaredBy);
    const sources = locateTasks(tasks, signatures, caller, runtime);
    const active = realm?.active ?? [AwakeCount.ofThread()];
    const hostTasks = Object.values(tasks).map((entry, task) => ({
      signature: signatures[task],
      settings: settingsOfTask(entry),
      f: functionOf(entry),
    }));
    const pool = new ThreadPool({
      options: resolved,
      sources,
      tasks: hostTasks,
      runtime,
      active,
      workerEntry: workerEntry,
    });
    return pool as unknown as Pool<typeof tasks>;
  };
}

function locateTasks(
  tasks: TaskMap,
  signatures: readonly (Signature | undefined)[],
  caller: string | undefined,
  runtime: Runtime,
): readonly TaskSource[] {
  if (!isRecord(tasks)) {
    throw new InvalidArgumentError(
      `A pool takes its tasks as an object, { name: function }, got ${show(tasks)}.`,
    );
  }
  return Object.keys(tasks).map((name, index) => {
    const { location, exportName } = locateTask(name, tasks[name], caller);
    if (location === undefined) {
      throw new InvalidArgumentError(
        `The stack does not show which module exports task "${name}"; pass ` +
          "createPool({ moduleUrl: import.meta.url }).",
      );
    }
    const declares = describeSignature(signatures[index]);
    const hasSignal = settingsOfTask(tasks[name]).hasSignal === true;
    return { name, moduleUrl: runtime.toModuleUrl(location), exportName, declares, hasSignal };
  });
}

/** The public handle. Threads and timers of the pool reference only `PoolCore`, which references this weakly. */
class ThreadPool extends EventTarget {
  readonly call: CallProxy;
  readonly ready: Promise<void>;
  readonly #core: PoolCore;

  constructor(spec: PoolSpec) {
    super();
    this.#core = new PoolCore(spec, this);
    const { parts: { dispatcher, cancellation }, ready } = this.#core;
    this.ready = ready;
    this.call = createCallProxy(spec, { dispatcher, cancellation, pool: this });
    this.#core.start();
  }

  get needsDrain(): boolean {
    return this.#core.parts.backpressure.needsDrain;
  }

  drained(): Promise<void> {
    if (!this.needsDrain) return Promise.resolve();
    return new Promise((resolve) => {
      this.addEventListener("drain", () => resolve(), { once: true });
    });
  }

  stats(): PoolStatistics {
    return this.#core.stats();
  }

  shutdown(options: number | ShutdownOptions = DRAIN_MS): Promise<void> {
    let timeoutMs: number;
    try {
      timeoutMs = checkShutdown(options, DRAIN_MS);
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#core.shutdown(timeoutMs);
  }

  [Symbol.dispose](): void {
    void this.shutdown(0);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }
}
