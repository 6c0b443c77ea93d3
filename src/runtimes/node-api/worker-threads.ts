/** Threads of `node:worker_threads`, for Node and Deno. */
import { JSON, Promise, URL } from "../../builtins.ts";
import type { Worker, WorkerOptions } from "node:worker_threads";
import { timers } from "./builtins.ts";
import { process } from "./process.ts";
import type { HostRuntime, WorkerHandle, WorkerLimits, WorkerReading } from "../runtime.ts";
import { dataOf, isDeno, threads } from "./threads.ts";

const { setTimeout, clearTimeout } = timers;

/** Options of a `Worker` that set its limits. */
export type LimitOptions = Pick<WorkerOptions, "resourceLimits" | "execArgv" | "env">;

/** `library` and `modules`: the folder and the files that the worker has to read to start, as URLs. */
type LimitsOf = (
  limits: WorkerLimits,
  library: string,
  modules: readonly string[],
) => LimitOptions;

/** `hasEnded`: as `WorkerHandle.hasEnded`. */
export function spawnThread(
  limitsOf?: LimitsOf,
  hasEnded?: (worker: Worker) => boolean,
): HostRuntime["spawnWorker"] {
  return ({ url, library, mark }, name, limits, modules, { workerData, ...thread }) => {
    const options = {
      __proto__: null,
      name,
      workerData: dataOf(mark) ?? workerData,
      ...thread,
      ...limitsOf?.(limits, library, modules),
    };
    // `new Worker` makes Next's bundler add every file of this package to its output, and fail at the types.
    const worker = Reflect.construct(threads().Worker, [startableUrl(url), options]) as Worker;
    // Methods bound instead of functions of our own, which each thread would have to compile when it starts.
    return {
      hasEnded: hasEnded && (() => hasEnded(worker)),
      read: isDeno ? undefined : () => read(worker),
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

/** How long a thread may take to answer: one in a native call does not. */
const READ_MS = 1000;

/** Node answers by interrupting the thread, so that a loop tells as well. The timer keeps the process running meanwhile. */
async function read(worker: Worker): Promise<WorkerReading | undefined> {
  const { promise: isLate, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, READ_MS);
  const answers = Promise.all([worker.getHeapStatistics(), worker.cpuUsage()]);
  try {
    const [heap, processor] = await Promise.race([answers, isLate]) ?? [];
    return heap && processor && {
      heapBytes: heap.used_heap_size + heap.external_memory,
      residentBytes: undefined,
      processorMs: (processor.user + processor.system) / 1000,
    };
  } catch {
    return undefined; // it is gone
  } finally {
    clearTimeout(timer);
  }
}

/** Node's flag for code from the command line or stdin. Workers inherit it and then cannot start from a file. */
const hasInputType: boolean = process.execArgv.some((flag) => flag.startsWith("--input-type"));

/**
 * Deno refuses to start a worker from a remote module (a library on JSR is `https:`), and Node from a file under
 * `--input-type`; a small `data:` module that imports it is accepted.
 */
function startableUrl(entry: URL): URL {
  if ((entry.protocol === "file:" && !hasInputType) || entry.protocol === "data:") return entry;
  const source = `import ${JSON.stringify(entry.href)};`;
  return new URL(`data:text/javascript,${encodeURIComponent(source)}`);
}
