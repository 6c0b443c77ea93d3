/**
 * What hosts and workers both ask of Node, Deno and Bun, on modules of Node that all three implement. `host.ts` and `worker.ts` add
 * what only one side asks.
 *
 * Clock and timers are captured here, at import, so that fake timers in a user's tests neither stop
 * a pool nor see its timers.
 */
import { Date, lazy, Promise, URL } from "../../builtins.ts";
import { timers, types } from "./builtins.ts";
import { process } from "./process/process.ts";
import { bundleMark, createChannel, openPort } from "./threads/threads.ts";
import { byteAccess, objectKinds, textAccess } from "./values/values.ts";
import type { AsyncContext, CodecAccess, Runtime, Timer, TracingChannel } from "../runtime.ts";

const { setImmediate, setInterval, setTimeout, clearTimeout } = timers;
const { now: coarseNow } = Date;
const settled: Promise<void> = Promise.resolve();
/** Not looked up at each use, since zone.js replaces it. */
const { then } = settled;

lazy.readableStream = () =>
  process.getBuiltinModule("node:stream/web").ReadableStream as typeof ReadableStream;

/** Methods bound: each function of our own would be compiled when the first pool starts. */
const timerOf = (handle: NodeJS.Timeout): Timer => ({
  ref: handle.ref.bind(handle),
  unref: handle.unref.bind(handle),
  clear: clearTimeout.bind(undefined, handle), // clears intervals as well
});

export const startTimeout = (callback: () => void, delayMs: number): Timer =>
  timerOf(setTimeout(callback, delayMs));

type Clock = Pick<Runtime, "now" | "originMs">;

const { hrtime } = process;

/** That of Node, which all threads share. For `performance` Node loads seven modules (0.8 ms). */
export const systemClock: Clock = {
  now: () => {
    const time = hrtime();
    return time[0] * 1e3 + time[1] / 1e6;
  },
  originMs: 0,
};

/** The clock of Deno and Bun, and their cores: as `availableParallelism`, which reads the global at every call. */
export function webPlatform(): Clock & Pick<Runtime, "cores"> {
  const { performance, navigator } = globalThis;
  return {
    now: performance.now.bind(performance),
    originMs: performance.timeOrigin,
    cores: Math.max(1, navigator.hardwareConcurrency),
  };
}

/** Members that the adapters add or replace. */
export type RuntimeSpecifics =
  & Clock
  & Partial<Omit<Runtime, keyof CodecAccess>>
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

/** For hosts alone. Here, since calls enter this file anyway. */
export function tracingChannel(name: string): TracingChannel {
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

export const exists = (url: URL): boolean =>
  url.protocol !== "file:" || process.getBuiltinModule("node:fs").existsSync(url);

export function createRuntime(specifics: RuntimeSpecifics): Runtime {
  return {
    get cores() {
      return Math.max(1, process.getBuiltinModule("node:os").availableParallelism());
    },
    sharesMemory: true,
    blocks: true,
    coarseNow,
    pause: (Atomics as { pause?: () => void }).pause ?? (() => {}),
    // Costs 23 ns; `queueMicrotask` costs 122 on Node 22.
    microtask: then.bind(settled) as Runtime["microtask"],
    macrotask: setImmediate,
    turnsPerYield: 1,
    losesAsyncWakes: false,
    isPromise: types.isPromise,
    createContext,
    bindContext: () =>
      process.getBuiltinModule("node:async_hooks").AsyncLocalStorage.snapshot() as ReturnType<
        Runtime["bindContext"]
      >,
    setInterval: (callback, intervalMs) => timerOf(setInterval(callback, intervalMs)),
    setTimeout: startTimeout,
    openPort,
    createChannel,
    bundleMark,
    env: (name) => process.env[name],
    printError: (line) => void process.stderr.write(`${line}\n`),
    toModuleUrl: (location) =>
      /^[a-z][a-z0-9+.-]+:/i.test(location) && !/^[a-z]:[\\/]/i.test(location)
        ? new URL(location).href
        : process.getBuiltinModule("node:url").pathToFileURL(location).href,
    exists,
    canRead: () => true,
    loadNow: (url) => {
      const path = process.getBuiltinModule("node:url").fileURLToPath(url.href);
      process.getBuiltinModule("node:module").createRequire(path)(path);
    },
    ...specifics,
    text: { ...textAccess, ...specifics.text },
    bytes: { ...byteAccess, ...specifics.bytes },
    kinds: { ...objectKinds, ...specifics.kinds },
    errors: { bare: () => undefined, ...specifics.errors },
  };
}
