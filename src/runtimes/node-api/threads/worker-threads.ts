/** Threads of `node:worker_threads`, for Node and Deno. */
import { JSON, URL } from "../../../builtins.ts";
import type { Worker, WorkerOptions } from "node:worker_threads";
import { process } from "../process/process.ts";
import type { HostRuntime, WorkerLimits } from "../../runtime.ts";
import type { WorkerHandle } from "../../worker-handle.ts";
import { dataOf, isDeno, threads } from "./threads.ts";

/** Options of a `Worker` that set its limits. */
export type LimitOptions = Pick<WorkerOptions, "resourceLimits" | "execArgv" | "env">;

/** `library` and `modules`: the folder and the files that the worker has to read to start, as URLs. */
type LimitsOf = (
  limits: WorkerLimits,
  library: string,
  modules: readonly string[],
) => LimitOptions;

/** Node's flag for code from the command line or stdin. Workers inherit it and then cannot start from a file. */
const hasInputType: boolean = process.execArgv.some((flag) => flag.startsWith("--input-type"));

/** `new Worker` makes Next's bundler add every file of this package to its output, and fail at the types. */
const construct = (constructor: typeof Worker, url: URL, options: object): Worker =>
  Reflect.construct(constructor, [url, options]) as Worker;

/** `hasEnded`: as `WorkerHandle.hasEnded`. `make`: makes a thread. */
export function spawnThread(
  limitsOf?: LimitsOf,
  hasEnded?: (worker: Worker) => boolean,
  make: typeof construct = construct,
): HostRuntime["spawnWorker"] {
  return ({ url, library, mark }, name, limits, modules, thread) => {
    const options = {
      __proto__: null,
      name,
      workerData: dataOf(mark),
      ...thread,
      ...limitsOf?.(limits, library, modules),
    };
    // Deno refuses to start a worker from a remote module (a library on JSR is `https:`), and Node from a file under
    // `--input-type`; a small `data:` module that imports it is accepted.
    const entry = (url.protocol === "file:" && !hasInputType) || url.protocol === "data:"
      ? url
      : new URL(
        `data:text/javascript,${encodeURIComponent(`import ${JSON.stringify(url.href)};`)}`,
      );
    const worker = make(threads().Worker, entry, options);
    // Methods bound instead of functions of our own, which each thread would have to compile when it starts.
    return {
      hasEnded: hasEnded && (() => hasEnded(worker)),
      read: isDeno ? undefined : async () => (await import("./read-thread.ts")).readThread(worker),
      post: worker.postMessage.bind(worker) as WorkerHandle["post"],
      onMessage: worker.on.bind(worker, "message"),
      onError: worker.on.bind(worker, "error"),
      onExit: worker.on.bind(worker, "exit"),
      ref: worker.ref.bind(worker),
      unref: worker.unref.bind(worker),
      terminate: worker.terminate.bind(worker),
    };
  };
}
