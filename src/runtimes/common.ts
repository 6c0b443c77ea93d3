/**
 * The part of the adapters that Node, Deno and Bun share, on modules of Node that all three implement. How they start threads is in
 * `worker-threads.ts` (Node, Deno) and `bun/web-workers.ts`.
 *
 * Clock and timers are captured here, at import, so that fake timers in a user's tests neither stop
 * a pool nor see its timers.
 */
import { Date, Error, lazy, performance, Promise, Set, URL } from "../builtins.ts";
import { Buffer } from "node:buffer";
import * as timers from "node:timers";
import { isPromise } from "node:util/types";
import { process } from "./process.ts";
import { byteAccess, objectKinds, textAccess } from "./values.ts";
import type {
  AsyncContext,
  CodecAccess,
  OutputName,
  ParentHandle,
  Runtime,
  Timer,
  TracingChannel,
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

/** Captured when heddle is loaded. */
const exit: (code: number) => void = process.exit.bind(process);

/** On `globalThis`: in a bundle the copy of heddle that listens first may not be the one that serves the thread. */
const PARENT = Symbol.for("heddle.parent");
const shared = globalThis as { [PARENT]?: ParentHandle };

function createParent(port: HostPort | undefined): ParentHandle {
  if (port === undefined) throw new Error("Not in a worker thread.");
  let isTerminating = false;
  // The part of a bundle that serves the thread loads later than the listener is needed (Deno and Bun drop messages).
  let early: unknown[] | undefined = [];
  let receive = (message: unknown): void => void early?.push(message);
  port.listen((message) => receive(message));
  let onUncaught = (_error: unknown): void => {};
  process.on("uncaughtExceptionMonitor", (error) => {
    isTerminating = process.listenerCount("uncaughtException") === 0;
    if (isTerminating && port.losesErrors) onUncaught(error);
  });
  return {
    post: port.post,
    onMessage: (listener) => {
      receive = listener;
      early?.forEach(listener);
      early = undefined;
    },
    onUnhandledRejection: (listener) =>
      void process.on("unhandledRejection", (reason) => {
        if (process.listenerCount("unhandledRejection") === 1) listener(reason);
      }),
    onUncaught: (listener) => onUncaught = listener,
    onExit: process.on.bind(process, "exit"),
    isTerminating: () => isTerminating,
    writeDirectly,
    flushOutput: (callback) => {
      process.stdout.write("", () => void process.stderr.write("", callback));
    },
    exit,
  };
}

const DESCRIPTORS: Readonly<Record<OutputName, number>> = { stdout: 1, stderr: 2 };

/** The streams of the process of which `isOne` is true: tools that capture output replace their `write`. */
export function outputsOf(isOne: (stream: object) => boolean): readonly OutputName[] {
  return (["stdout", "stderr"] as const).filter((name) => isOne(process[name]));
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

/** The timeouts of this thread that have not run. */
const timeouts = new Set<{ readonly dueMs: number; readonly run: () => void }>();

function createTimeout(callback: () => void, delayMs: number): Timer {
  const run = (): void => {
    if (!timeouts.delete(timeout)) return;
    clearTimeout(handle);
    callback();
  };
  const handle = setTimeout(run, delayMs);
  const timeout = { dueMs: now() + delayMs, run };
  timeouts.add(timeout);
  return {
    ref: handle.ref.bind(handle),
    unref: handle.unref.bind(handle),
    clear: () => {
      timeouts.delete(timeout);
      clearTimeout(handle);
    },
  };
}

/** Methods bound: each function of our own would be compiled when the first pool starts. */
function createInterval(callback: () => void, intervalMs: number): Timer {
  const handle = setInterval(callback, intervalMs);
  return {
    ref: handle.ref.bind(handle),
    unref: handle.unref.bind(handle),
    clear: clearTimeout.bind(undefined, handle), // clears both
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

/** A worker's port to its host. */
export interface HostPort {
  /** Whether the host gets only the text of an uncaught exception, so that the worker has to post it. */
  readonly losesErrors: boolean;
  readonly post: (message: unknown) => void;
  /** Called once. The listener keeps the worker alive. */
  listen(listener: (message: unknown) => void): void;
}

/** How a runtime starts threads. */
export interface Threads
  extends Pick<Runtime, "bundleMark" | "spawnWorker" | "createChannel" | "openPort"> {
  /** In a worker: its port. */
  hostPort(): HostPort | undefined;
}

/** Members that the adapters add or replace. */
export type RuntimeSpecifics =
  & Pick<Runtime, "refuseLimits">
  & Partial<Omit<Runtime, keyof CodecAccess | keyof Threads>>
  & { readonly bytes: Pick<CodecAccess["bytes"], "isUntransferable"> }
  & Partial<Pick<CodecAccess, keyof FileAccess>>
  & {
    readonly [Part in Exclude<keyof CodecAccess, keyof FileAccess>]?: Partial<CodecAccess[Part]>;
  };

type FileAccess = Pick<CodecAccess, "exists" | "canRead" | "loadNow">;

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
  | "tracingChannel"
  | "env"
  | "printError"
  | "importCondition"
  | "canRead"
  | "loadNow"
  | "onBeforeExit"
  | "explainLoadError"
> = {
  bindContext,
  coarseNow,
  tracingChannel,
  onBeforeExit,
  explainLoadError: (error) => ({ error, place: undefined }),
  env: (name) => process.env[name],
  importCondition: "node",
  canRead: () => true,
  loadNow: (url) => {
    const path = process.getBuiltinModule("node:url").fileURLToPath(url.href);
    process.getBuiltinModule("node:module").createRequire(path)(path);
  },
  printError: (line) => void process.stderr.write(`${line}\n`),
};

export function createRuntime(
  { hostPort, ...threads }: Threads,
  specifics: RuntimeSpecifics,
): Runtime {
  return {
    get cores() {
      return Math.max(1, process.getBuiltinModule("node:os").availableParallelism());
    },
    sharesMemory: true,
    measuresMemory: true,
    blocks: true,
    startsGivenWorkers: false,
    now,
    originMs: performance.timeOrigin,
    pause,
    // Costs 23 ns; `queueMicrotask` costs 122 on Node 22.
    microtask: (callback) => void then.call(settled, callback),
    macrotask: setImmediate,
    turnsPerYield: 1,
    losesAsyncWakes: false,
    isPromise,
    createContext,
    ...ofProcess,
    setInterval: createInterval,
    setTimeout: createTimeout,
    runDueTimeouts: () => {
      const nowMs = now();
      // Found first, since a callback may set others. One that another has cleared does not run.
      const due = [...timeouts].filter(({ dueMs }) => dueMs <= nowMs);
      for (const { run } of due) run();
    },
    directOutputs: () => [],
    takesExecArgv: false,
    confineSelf: () => {},
    exists: (url) =>
      url.protocol !== "file:" || process.getBuiltinModule("node:fs").existsSync(url),
    memoryBytes: () => {
      const { getHeapStatistics } = process.getBuiltinModule("node:v8");
      const { used_heap_size, external_memory } = getHeapStatistics();
      return used_heap_size + external_memory;
    },
    parent: () => shared[PARENT] ??= createParent(hostPort()),
    toModuleUrl: (location) =>
      /^[a-z][a-z0-9+.-]+:/i.test(location) && !/^[a-z]:[\\/]/i.test(location)
        ? new URL(location).href
        : process.getBuiltinModule("node:url").pathToFileURL(location).href,
    stopsThreads: true,
    printsUncaught: false,
    warn: (...lines) => console.error(...lines),
    ...threads,
    ...specifics,
    text: { ...textAccess, ...specifics.text },
    bytes: { ...byteAccess, ...specifics.bytes },
    kinds: { ...objectKinds, ...specifics.kinds },
    errors: { bare: () => undefined, ...specifics.errors },
  };
}
