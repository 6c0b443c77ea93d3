/**
 * The part of the adapters that Node, Deno and Bun share: threads, ports and timers from
 * `node:worker_threads` and `node:timers`, which all three implement.
 *
 * Clock and timers are captured here, at import, so that fake timers in a user's tests neither stop
 * a pool nor see its timers.
 */
import { Date, Error, JSON, lazy, performance, Promise, Set, URL } from "../builtins.ts";
import { Buffer } from "node:buffer";
import * as timers from "node:timers";
import { isPromise } from "node:util/types";
import {
  isMainThread,
  MessageChannel,
  type MessagePort,
  parentPort,
  receiveMessageOnPort,
  type Transferable,
  Worker,
  workerData,
  type WorkerOptions,
} from "node:worker_threads";
import { process } from "./process.ts";
import { byteAccess, objectKinds, textAccess } from "./values.ts";
import type {
  AsyncContext,
  CodecAccess,
  OutputName,
  ParentHandle,
  PayloadPort,
  Runtime,
  Timer,
  TracingChannel,
  WorkerHandle,
  WorkerLimits,
} from "./runtime.ts";

const { setImmediate, setInterval, setTimeout, clearTimeout } = timers;
const now = performance.now.bind(performance);
const { now: coarseNow } = Date;
const pause: () => void = (Atomics as { pause?: () => void }).pause ?? (() => {});
const settled: Promise<void> = Promise.resolve();
/** Not looked up at each use, since zone.js replaces it. */
const { then } = settled;

lazy.readableStream = () =>
  process.getBuiltinModule("node:stream/web").ReadableStream as typeof ReadableStream;

function createPort(port: MessagePort, specifics: RuntimeSpecifics): PayloadPort {
  const { beforeReceiving } = specifics;
  specifics.preparePort?.(port);
  return {
    post: (message, transfer) => port.postMessage(message, transfer as Transferable[]),
    receive: () => {
      beforeReceiving?.();
      return receiveMessageOnPort(port);
    },
    close: () => port.close(),
  };
}

function createHandle(worker: Worker): WorkerHandle {
  return {
    post: (message, transfer) => worker.postMessage(message, transfer as Transferable[]),
    onMessage: (listener) => void worker.on("message", listener),
    onError: (listener) => void worker.on("error", listener),
    onExit: (listener) => void worker.on("exit", listener),
    ref: () => worker.ref(),
    unref: () => worker.unref(),
    terminate: async () => void await worker.terminate(),
  };
}

/** Captured when heddle is loaded. */
const exit: (code: number) => void = process.exit.bind(process);

let handle: ParentHandle | undefined;

function createParent(): ParentHandle {
  if (parentPort === null) throw new Error("Not in a worker thread.");
  const port = parentPort;
  let isTerminating = false;
  // The part of a bundle that serves the thread loads later than the listener is needed (Deno and Bun drop messages).
  let early: unknown[] | undefined = [];
  let receive = (message: unknown): void => void early?.push(message);
  port.on("message", (message) => receive(message));
  process.on("uncaughtExceptionMonitor", () => {
    isTerminating = process.listenerCount("uncaughtException") === 0;
  });
  return {
    post: (message) => port.postMessage(message),
    onMessage: (listener) => {
      receive = listener;
      early?.forEach(listener);
      early = undefined;
    },
    onUnhandledRejection: (listener) =>
      void process.on("unhandledRejection", (reason) => {
        if (process.listenerCount("unhandledRejection") === 1) listener(reason);
      }),
    isTerminating: () => isTerminating,
    writeDirectly,
    flushOutput: (callback) => {
      process.stdout.write("", () => void process.stderr.write("", callback));
    },
    exit,
  };
}

const DESCRIPTORS: Readonly<Record<OutputName, number>> = { stdout: 1, stderr: 2 };

/**
 * The streams of the process whose `write` is the runtime's own (`isNative`): tools that capture output replace it. None
 * in a worker thread, whose streams are messages to its host.
 */
export function unpatchedOutputs(isNative: (stream: object) => boolean): readonly OutputName[] {
  return isMainThread
    ? (["stdout", "stderr"] as const).filter((name) => isNative(process[name]))
    : [];
}

function writeDirectly(outputs: readonly OutputName[]): void {
  for (const name of outputs) {
    const stream = process[name] as unknown as {
      _writev: unknown;
      _write(chunk: string | Uint8Array, encoding: BufferEncoding, callback: () => void): void;
    };
    stream._writev = null;
    stream._write = (chunk, encoding, callback) => {
      writeAll(
        DESCRIPTORS[name],
        typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk,
      );
      callback();
    };
  }
}

/** Word to wait on while a pipe is full. */
const never = new Int32Array(new SharedArrayBuffer(4));

function writeAll(descriptor: number, bytes: Uint8Array): void {
  const { writeSync } = process.getBuiltinModule("node:fs");
  for (let written = 0; written < bytes.length;) {
    try {
      written += writeSync(descriptor, bytes, written);
    } catch (error) {
      if ((error as { readonly code?: string }).code !== "EAGAIN") return; // the reader is gone
      Atomics.wait(never, 0, 0, 1);
    }
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

/** Also wraps an interval, since `clearTimeout` clears both. */
function createTimer(handle: ReturnType<typeof setTimeout>): Timer {
  return {
    ref: () => void handle.ref(),
    unref: () => void handle.unref(),
    clear: () => clearTimeout(handle),
  };
}

/** Callbacks of all pools, called by one listener: Node warns about more than ten listeners. */
const beforeExit = new Set<() => void>();
const runBeforeExit = (): void => beforeExit.forEach((callback) => callback());

function onBeforeExit(callback: () => void): () => void {
  if (beforeExit.size === 0) process.on("beforeExit", runBeforeExit);
  beforeExit.add(callback);
  return () => {
    beforeExit.delete(callback);
    if (beforeExit.size === 0) process.off("beforeExit", runBeforeExit);
  };
}

/** Key in the `workerData` of threads that start with a bundle. */
const MARK = "heddle.bundle";

function onTerminate(drain: () => Promise<void>): () => void {
  const remove = (): void => void process.off("SIGTERM", listener);
  const listener = (): void => {
    const end = (): void => {
      remove();
      if (process.listenerCount("SIGTERM") === 0) exit(143); // 128 and the number of the signal
    };
    void drain().then(end, end);
  };
  process.on("SIGTERM", listener);
  return remove;
}

function processName(): string {
  try {
    return `${process.getBuiltinModule("node:os").hostname()}-${process.pid}`;
  } catch {
    return `process-${process.pid}`; // Deno without --allow-sys
  }
}

/** Options of a `Worker` that set its limits. */
export type LimitOptions = Pick<WorkerOptions, "resourceLimits" | "execArgv" | "env">;

/** Members that the adapters add or replace. */
export type RuntimeSpecifics =
  & Pick<Runtime, "refuseLimits">
  & Partial<Omit<Runtime, keyof CodecAccess | "spawnWorker">>
  & {
    /** Called with each payload port. */
    preparePort?(port: MessagePort): void;
    /** Called before each message is read from a payload port. */
    beforeReceiving?(): void;
    /** `library` and `modules`: the folder and the files that the worker has to read to start, as URLs. */
    limitOptions?(limits: WorkerLimits, library: string, modules: readonly string[]): LimitOptions;
  }
  & { readonly [Part in keyof CodecAccess]?: Partial<CodecAccess[Part]> };

export function createContext<Value>(): AsyncContext<Value> {
  const { AsyncLocalStorage } = process.getBuiltinModule("node:async_hooks");
  const storage = new AsyncLocalStorage<Value>();
  return { run: (value, f) => storage.run(value, f), get: () => storage.getStore() };
}

function bindContext(): <Result>(f: () => Result) => Result {
  return process.getBuiltinModule("node:async_hooks").AsyncLocalStorage.snapshot();
}

function tracingChannel(name: string): TracingChannel {
  const { start, end, asyncStart, asyncEnd, error } = process
    .getBuiltinModule("node:diagnostics_channel").tracingChannel(name);
  return {
    get hasSubscribers() {
      return start.hasSubscribers || end.hasSubscribers || asyncStart.hasSubscribers ||
        asyncEnd.hasSubscribers || error.hasSubscribers;
    },
    begin: (message, f) =>
      start.runStores(message, () => {
        try {
          return f();
        } catch (reason) {
          (message as { error?: unknown }).error = reason;
          error.publish(message);
          throw reason;
        } finally {
          end.publish(message);
        }
      }),
    settle: (message, f) =>
      void asyncStart.runStores(message, () => {
        f();
        asyncEnd.publish(message);
      }),
    fail: (message) => error.publish(message),
  };
}

const ofProcess: Pick<
  Runtime,
  | "bindContext"
  | "coarseNow"
  | "guardSockets"
  | "tracingChannel"
  | "env"
  | "printError"
  | "importCondition"
  | "canRead"
  | "onBeforeExit"
  | "onTerminate"
  | "processName"
  | "runningModule"
  | "explainLoadError"
> = {
  bindContext,
  coarseNow,
  guardSockets: (open) => open(),
  tracingChannel,
  onBeforeExit,
  onTerminate,
  processName,
  runningModule: (file) => file,
  explainLoadError: (error) => ({ error, place: undefined }),
  env: (name) => process.env[name],
  importCondition: "node",
  canRead: () => true,
  printError: (line) => void process.stderr.write(`${line}\n`),
};

export function createRuntime(specifics: RuntimeSpecifics): Runtime {
  return {
    get cores() {
      return Math.max(1, process.getBuiltinModule("node:os").availableParallelism());
    },
    now,
    originMs: performance.timeOrigin,
    pause,
    // Costs 23 ns; `queueMicrotask` costs 122 on Node 22.
    microtask: (callback) => void then.call(settled, callback),
    macrotask: (callback) => void setImmediate(callback),
    turnsPerYield: 1,
    isPromise,
    createContext,
    ...ofProcess,
    setInterval: (callback, intervalMs) => createTimer(setInterval(callback, intervalMs)),
    setTimeout: (callback, delayMs) => createTimer(setTimeout(callback, delayMs)),
    createChannel: () => {
      const { port1, port2 } = new MessageChannel();
      return { local: createPort(port1, specifics), remote: port2 };
    },
    openPort: (remote) => createPort(remote as MessagePort, specifics),
    directOutputs: () => [],
    takesExecArgv: false,
    spawnWorker: ({ url, library, mark }, name, limits, modules, { env, argv, execArgv }) =>
      createHandle(
        // `new Worker` makes Next's bundler add every file of this package to its output, and fail at the types.
        Reflect.construct(Worker, [startableUrl(url), {
          name,
          ...(mark !== undefined && { workerData: { [MARK]: mark } }),
          ...(env !== undefined && { env: env as NodeJS.ProcessEnv }),
          ...(argv !== undefined && { argv: [...argv] }),
          ...(execArgv !== undefined && { execArgv: [...execArgv] }),
          ...specifics.limitOptions?.(limits, library, modules),
        }]) as Worker,
      ),
    confineSelf: () => {},
    exists: (url) =>
      url.protocol !== "file:" || process.getBuiltinModule("node:fs").existsSync(url),
    bundleMark: (workerData as { readonly [MARK]?: string } | null | undefined)?.[MARK],
    memoryBytes: () => {
      const { getHeapStatistics } = process.getBuiltinModule("node:v8");
      const { used_heap_size, external_memory } = getHeapStatistics();
      return used_heap_size + external_memory;
    },
    parent: () => handle ??= createParent(),
    toModuleUrl: (location) =>
      /^[a-z][a-z0-9+.-]+:/i.test(location) && !/^[a-z]:[\\/]/i.test(location)
        ? new URL(location).href
        : process.getBuiltinModule("node:url").pathToFileURL(location).href,
    stopsThreads: true,
    printsUncaught: false,
    warn: (...lines) => console.error(...lines),
    ...specifics,
    text: { ...textAccess, ...specifics.text },
    bytes: { ...byteAccess, ...specifics.bytes },
    kinds: { ...objectKinds, ...specifics.kinds },
    errors: { bare: () => undefined, ...specifics.errors },
  };
}
