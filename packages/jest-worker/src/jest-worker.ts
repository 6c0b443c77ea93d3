/** `Worker`: the farm of workers with the methods of a module. */
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";
import { Farm } from "./farm.ts";
import type {
  PoolExitResult,
  PromiseWithCustomMessage,
  WorkerFarmOptions,
  WorkerPoolInterface,
  WorkerPoolOptions,
} from "./types.ts";
import { WorkerPool } from "./worker-pool.ts";

const ENDED = "Farm is ended, no more calls can be done to it";

/** Workers that run the functions of a module. Each function that the module exports is a method, which returns a promise. */
export class Worker {
  readonly #pool: WorkerPoolInterface;
  readonly #farm: Farm;
  #isEnding = false;

  /** `workerPath`: the absolute path or the file URL of the module. */
  constructor(workerPath: string | URL, options: WorkerFarmOptions = {}) {
    const path = pathOf(workerPath);
    const poolOptions: WorkerPoolOptions = {
      enableWorkerThreads: options.enableWorkerThreads ?? false,
      forkOptions: options.forkOptions ?? {},
      idleMemoryLimit: options.idleMemoryLimit,
      maxRetries: options.maxRetries ?? 3,
      numWorkers: options.numWorkers ?? Math.max(availableParallelism() - 1, 1),
      resourceLimits: options.resourceLimits ?? {},
      setupArgs: options.setupArgs ?? [],
      workerGracefulExitTimeout: options.workerGracefulExitTimeout,
    };
    const methods = methodsOf(this, path, options.exposedMethods);
    const pool = this.#pool = new (options.WorkerPool ?? WorkerPool)(path, poolOptions);
    this.#farm = new Farm(poolOptions.numWorkers, pool.send.bind(pool), options);
    for (const method of methods) {
      Object.assign(this, { [method]: (...args: unknown[]) => this.#call(method, args) });
    }
  }

  #call(method: string, args: unknown[]): PromiseWithCustomMessage<unknown> {
    if (this.#isEnding) throw new Error(ENDED);
    return this.#farm.call(method, args);
  }

  /** What the workers write to stderr. */
  getStderr(): NodeJS.ReadableStream {
    return this.#pool.getStderr();
  }

  /** What the workers write to stdout. */
  getStdout(): NodeJS.ReadableStream {
    return this.#pool.getStdout();
  }

  /** Loads the module in all workers, and runs its `setup`. */
  async start(): Promise<void> {
    await this.#pool.start();
  }

  /** Runs the `teardown` of the module in the workers and ends them, by force if need be. Calls that run then never settle. */
  async end(): Promise<PoolExitResult> {
    if (this.#isEnding) throw new Error(ENDED);
    this.#isEnding = true;
    return await this.#pool.end();
  }
}

function pathOf(given: string | URL): string {
  const path = typeof given === "string" ? given : given.href;
  if (path.startsWith("file:")) return fileURLToPath(path);
  if (!isAbsolute(path)) throw new Error(`'workerPath' must be absolute, got '${path}'`);
  return path;
}

/** The names of the methods. Throws TypeError for one that the farm has itself. */
function methodsOf(farm: Worker, path: string, exposed?: readonly string[]): readonly string[] {
  const methods = (exposed ?? exportedBy(path)).filter((name) => !name.startsWith("_"));
  for (const name of methods) {
    if (Object.hasOwn(farm.constructor.prototype, name) || Object.hasOwn(Worker.prototype, name)) {
      throw new TypeError(`Cannot define a method called ${name}`);
    }
  }
  return methods;
}

function exportedBy(path: string): readonly string[] {
  const exports = createRequire(import.meta.url)(path) as Readonly<Record<string, unknown>>;
  const names = Object.keys(exports).filter((name) => typeof exports[name] === "function");
  return typeof exports === "function" ? [...names, "default"] : names;
}
