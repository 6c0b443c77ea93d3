/** Threads of `node:worker_threads`, for Node and Deno. */
import { JSON, URL } from "../builtins.ts";
import type { MessagePort, Transferable, Worker, WorkerOptions } from "node:worker_threads";
import type { HostPort, Threads } from "./common.ts";
import { process } from "./process.ts";
import type { PayloadPort, WorkerHandle, WorkerLimits } from "./runtime.ts";

/** Options of a `Worker` that set its limits. */
export type LimitOptions = Pick<WorkerOptions, "resourceLimits" | "execArgv" | "env">;

/** What Node and Deno do differently. */
export interface ThreadSpecifics {
  /** Called with each payload port. */
  preparePort?(port: MessagePort): void;
  /** `WorkerHandle.hasEnded` of a thread. */
  hasEnded?(worker: Worker): boolean;
  /** Called before each message is read from a payload port. */
  beforeReceiving?(): void;
  /** `library` and `modules`: the folder and the files that the worker has to read to start, as URLs. */
  limitOptions?(limits: WorkerLimits, library: string, modules: readonly string[]): LimitOptions;
}

/** Key in the `workerData` of threads that start with a bundle. */
const MARK = "heddle.bundle";
/** The mark of this thread, from its `workerData`. */
export function markIn(workerData: unknown): string | undefined {
  return (workerData as { readonly [MARK]?: string } | null | undefined)?.[MARK];
}
/** The option `workerData` for a thread with this mark. */
export function dataOf(mark: string | undefined): object | undefined {
  return mark === undefined ? undefined : { [MARK]: mark };
}

/** Methods bound instead of functions of our own, which each thread would have to compile when it starts. */
function createHandle(worker: Worker, { hasEnded }: ThreadSpecifics): WorkerHandle {
  return {
    hasEnded: hasEnded && (() => hasEnded(worker)),
    post: worker.postMessage.bind(worker) as WorkerHandle["post"],
    onMessage: worker.on.bind(worker, "message"),
    onError: worker.on.bind(worker, "error"),
    onExit: worker.on.bind(worker, "exit"),
    ref: worker.ref.bind(worker),
    unref: worker.unref.bind(worker),
    terminate: async () => void await worker.terminate(),
  };
}

export function workerThreads(specifics: ThreadSpecifics): Threads {
  // Bun must not load it.
  const { MessageChannel, parentPort, receiveMessageOnPort, Worker, workerData } = process
    .getBuiltinModule("node:worker_threads");
  const { beforeReceiving, limitOptions } = specifics;
  const createPort = (port: MessagePort): PayloadPort => {
    specifics.preparePort?.(port);
    return {
      post: (message, transfer) => port.postMessage(message, transfer as Transferable[]),
      receive: () => {
        beforeReceiving?.();
        return receiveMessageOnPort(port);
      },
      close: () => port.close(),
    };
  };
  return {
    bundleMark: () => markIn(workerData),
    createChannel: () => {
      const { port1, port2 } = new MessageChannel();
      return { local: createPort(port1), remote: port2 };
    },
    openPort: (remote) => createPort(remote as MessagePort),
    hostPort: () =>
      parentPort === null ? undefined : {
        losesErrors: false,
        post: parentPort.postMessage.bind(parentPort) as HostPort["post"],
        listen: parentPort.on.bind(parentPort, "message"),
      },
    spawnWorker: (
      { url, library, mark },
      name,
      limits,
      modules,
      { env, argv, execArgv, workerData },
    ) => {
      const { resourceLimits, permission } = limits;
      return createHandle(
        // `new Worker` makes Next's bundler add every file of this package to its output, and fail at the types.
        Reflect.construct(Worker, [
          startableUrl(url),
          {
            __proto__: null,
            name,
            workerData: dataOf(mark) ?? workerData,
            env,
            argv,
            execArgv,
            ...((resourceLimits ?? permission) && limitOptions?.(limits, library, modules)),
          },
        ]) as Worker,
        specifics,
      );
    },
  };
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
