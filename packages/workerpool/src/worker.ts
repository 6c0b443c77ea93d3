/** The tasks of every worker: run a function by its name, and clean up after one that was cancelled. */
import { AsyncLocalStorage } from "node:async_hooks";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isTransfer, setBridge } from "./bridge.ts";
import { type ErrorData, errorToData } from "./errors.ts";
import { isPromise } from "./promise.ts";
import type { AnyFunction, PublicWorker, WorkerRegisterOptions } from "./types.ts";

/** How a task ended. */
export interface Outcome {
  /** What it returned. */
  readonly result?: unknown;
  /** What it threw. */
  readonly error?: ErrorData;
}

/** What a worker does before its first task. */
export interface Setup {
  /** The script that registers functions; undefined: none. */
  readonly script: string | undefined;
  /** `workerData` of `node:worker_threads`. */
  readonly workerData: unknown;
}

type Encode = (outcome: Outcome) => unknown;

interface Running {
  readonly id: number;
  readonly encode: Encode;
  /** Ends its call without an outcome. */
  abandon?: () => void;
}

type Tools = typeof import("heddle/task");

let loaded: Tools | undefined;

/** heddle's tools for tasks, loaded at their first use: most scripts need none, and each worker would take 6 ms to compile them. */
const tools = (): Tools => loaded ??= createRequire(import.meta.url)("heddle/task") as Tools;

const ABORT_LISTENER_TIMEOUT = 1000;

const methods: Record<string, AnyFunction> = Object.create(null);
let options: WorkerRegisterOptions = {};
let abortListeners: (() => unknown)[] = [];
let running: Running | undefined;
let isProcess = false;
/** Of the call `attach`: events travel with it, since it lasts as long as the worker. */
let inAttached: (<R>(f: () => R) => R) | undefined;
/** Until the script has registered its functions. */
let registration: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

const publicWorker: PublicWorker = {
  addAbortListener: (listener) => void abortListeners.push(listener),
  emit: send,
};

setBridge({
  register(added, registered) {
    for (const [name, method] of Object.entries(added ?? {})) {
      methods[name] = method;
      if (Object.isExtensible(method)) Object.assign(method, { worker: publicWorker });
    }
    if (registered !== undefined) setOptions(registered);
    registration?.resolve();
    registration = undefined;
  },
  emit: send,
});

// A rejection that nothing handles ends the worker, as one of Node does, unless the script listens for it.
process.on("unhandledRejection", (reason) => {
  if (process.listenerCount("unhandledRejection") > listeners) return;
  setTimeout(() => {
    throw reason;
  });
});
const listeners = process.listenerCount("unhandledRejection");

function setOptions(registered: WorkerRegisterOptions): void {
  const isRegistered = options.onTerminate !== undefined;
  options = registered;
  if (isRegistered || registered.onTerminate === undefined) return;
  tools().onTeardown(() => options.onTerminate?.(0) as Promise<void> | void);
}

methods["run"] = (source: string, args?: unknown[]) => {
  const f = new Function(`return (${source}).apply(this, arguments);`);
  return f.apply(Object.assign(f, { worker: publicWorker }), args ?? []);
};
methods["methods"] = () => Object.keys(methods);

function send(payload: unknown): void {
  if (running === undefined) return;
  const { id } = running;
  const value = isTransfer(payload) ? payload.message : payload;
  const event = isProcess ? jsonOf([id, value]) : [id, value];
  const { emit } = tools();
  inAttached?.(() => emit(event));
}

const jsonOf = (value: unknown): string => JSON.stringify(value) ?? "null";

/** `worker.setup`: loads the script, which registers its functions at once or later. */
export default async function setUp({ script, workerData }: Setup): Promise<void> {
  if (workerData !== undefined) {
    Object.assign(process.getBuiltinModule("node:worker_threads"), { workerData });
    process.getBuiltinModule("node:module").syncBuiltinESMExports?.();
  }
  if (script === undefined) return;
  registration = Promise.withResolvers<void>();
  process.argv[1] = script;
  const url = /^(file|data):/.test(script) ? script : pathToFileURL(script).href;
  if (url.startsWith("file:")) setMainModule(fileURLToPath(url));
  await import(/* webpackIgnore: true */ /* @vite-ignore */ url);
}

/** `require.main.filename` is the script, as in workerpool's workers; its module is another. On Node alone. */
function setMainModule(filename: string): void {
  const { Module } = process.getBuiltinModule("node:module");
  process.mainModule ??= Object.assign(new Module(filename), { filename, loaded: true });
}

/** The first call of each worker. It lasts as long as the worker, carries its events, and rejects when the worker is lost. */
export function attach(ofProcess: boolean): Promise<void> {
  isProcess = ofProcess;
  inAttached = AsyncLocalStorage.snapshot();
  return new Promise(() => {});
}

/** Of a worker that is a process. */
export const processId = (): number => process.pid;

/** Runs a function. Rejects only if its result cannot be cloned. */
export function exec(id: number, name: string, args: readonly unknown[]): unknown {
  return start(id, name, args, (outcome) => {
    const { result } = outcome;
    return isTransfer(result)
      ? tools().transfer({ result: result.message }, [...result.transfer])
      : outcome;
  });
}

/** The same with arguments and outcome as JSON, as messages of processes are by default. */
export function execJson(id: number, name: string, args: string): unknown {
  return start(id, name, JSON.parse(args), (outcome) => {
    const { result } = outcome;
    try {
      return jsonOf(isTransfer(result) ? { result: result.message } : outcome);
    } catch (error) {
      return jsonOf({ error: errorToData(error) });
    }
  });
}

function start(id: number, name: string, args: readonly unknown[], encode: Encode): unknown {
  if (registration === undefined) return run({ id, encode }, name, args);
  return registration.promise.then(() => run({ id, encode }, name, args));
}

function run(call: Running, name: string, args: readonly unknown[]): unknown {
  running = call;
  let result: unknown;
  try {
    const method = methods[name];
    if (method === undefined) throw new Error(`Unknown method "${name}"`);
    result = method.apply(method, args as unknown[]);
  } catch (error) {
    return end(call, { error: errorToData(error) });
  }
  if (!isPromise(result)) return end(call, { result });
  const pending = result;
  return new Promise((resolve, reject) => {
    call.abandon = () => resolve(undefined);
    pending.then(
      (value) => end(call, { result: value }),
      (error) => end(call, { error: errorToData(error) }),
    ).then(resolve, reject);
  });
}

function end(call: Running, outcome: Outcome): unknown {
  if (running === call) running = undefined;
  return call.encode(outcome);
}

/** After a task was cancelled: whether its abort listeners have stopped it, so that the worker may live on. */
export async function cleanUp(id: number): Promise<boolean> {
  if (abortListeners.length === 0) return false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const expired = new Promise<never>((_, reject) => {
    const ms = options.abortListenerTimeout || ABORT_LISTENER_TIMEOUT;
    timer = setTimeout(reject, ms);
  });
  try {
    await Promise.race([expired, Promise.all(abortListeners.map((listener) => listener()))]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
  abortListeners = [];
  if (running?.id === id) running.abandon?.();
  return true;
}
