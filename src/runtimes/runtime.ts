/**
 * The interface between heddle and a JavaScript runtime. Only the adapters in this folder name a runtime;
 * all other code receives an object of this type.
 */

import type { ChildProcess, HostPipe, ProcessOptions } from "./processes/types.ts";
import type { OutputName, ParentHandle, WorkerHandle } from "./worker-handle.ts";

/** Result of `writeOneByte`: there is a unit above 0xff; there may be one above 0x7f; there is neither. */
export const NOT_ONE_BYTE = 0;
export const LATIN1 = 1;
export const ASCII = 2;
export type Written = typeof NOT_ONE_BYTE | typeof LATIN1 | typeof ASCII;

interface Encoded {
  /** UTF-16 units. */
  read: number;
  /** Bytes. */
  written: number;
}

export type SharedBytes = Uint8Array<SharedArrayBuffer>;
type SharedUnits = Uint16Array<SharedArrayBuffer>;

/** Reads and writes strings in shared memory by the runtime's fastest verified method. */
export interface TextAccess {
  /** Minimum number of short strings for which one joined `writeOneByte` is faster than `writeUnits` for each. */
  readonly joinedTexts: number;
  /** Longest one-byte string, in units, that a loop in JavaScript reads faster than `readOneByte`. */
  readonly loopUnits: number;
  /** Writes the low byte of each unit of a short `text` at `start`, by a loop; returns all units or'ed. */
  writeUnits(text: string, target: SharedBytes, start: number): number;
  /**
   * Writes `text` with one byte per unit at `start`, if no unit is above 0xff; after NOT_ONE_BYTE up to `text.length`
   * bytes from `start` are undefined. Returns ASCII only if the runtime detects it at no cost.
   */
  writeOneByte(text: string, target: SharedBytes, start: number): Written;
  /** Writes `text`, two bytes per unit, little-endian, at the even offset `start` of `bytes`; `units` views the same memory. */
  writeTwoByte(text: string, bytes: SharedBytes, units: SharedUnits, start: number): void;
  /** Reads `[start, end)`, one byte per unit. */
  readOneByte(source: SharedBytes, start: number, end: number): string;
  /** The same for bytes up to 0x7f; for others the text is undefined. */
  readAscii(source: SharedBytes, start: number, end: number): string;
  /** Reads `[start, end)`, two bytes per unit, little-endian. */
  readTwoByte(source: SharedBytes, start: number, end: number): string;
  /** Encodes as UTF-8 the characters that fit `target[start, end)`. Lone surrogates become U+FFFD: callers check for them. */
  encodeInto(text: string, target: SharedBytes, start: number, end: number): Encoded;
  /** Decodes `[start, end)`, known to be valid UTF-8. A leading byte order mark is kept. */
  readUtf8(source: SharedBytes, start: number, end: number): string;
}

/** Copies bytes out of shared memory and knows the runtime's `Buffer`. */
export interface ByteAccess {
  /** A fresh, exact, unshared copy of `source[start, end)`, alone in its buffer. */
  copyOut(source: SharedBytes, start: number, end: number): Uint8Array<ArrayBuffer>;
  /** A fresh, exact, unshared copy of `length` bytes of `source` from `start`. */
  copy(source: ArrayBufferLike, start: number, length: number): ArrayBuffer;
  readonly bufferPrototype: object;
  /** Whether `buffer` is marked as not transferable, as Node marks the pool of small Buffers. */
  isUntransferable(buffer: ArrayBuffer): boolean;
  /** A Node `Buffer` over the whole of `bytes`. */
  toBuffer(bytes: ArrayBuffer): Uint8Array;
}

/** Distinguishes objects by their internal slots. Runs no user code, even for proxies. */
export interface ObjectKinds {
  isProxy(value: object): boolean;
  isArrayBuffer(value: unknown): value is ArrayBuffer;
  isSharedArrayBuffer(value: unknown): value is SharedArrayBuffer;
  isMap(value: object): value is Map<unknown, unknown>;
  isSet(value: object): value is Set<unknown>;
  isDate(value: object): value is Date;
  isRegExp(value: object): value is RegExp;
  isNativeError(value: object): value is Error;
  isBoxedPrimitive(value: object): boolean;
  isModuleNamespace(value: object): boolean;
  isArguments(value: object): boolean;
  /** Whether it is a proxy, or known to be marked by `markAsUncloneable`. */
  isRefused(value: object): boolean;
  /** Whether structured clone treats instances of this prototype's class, which is not a global one, specially. */
  isHostClass(prototype: object): boolean;
  /** Whether the runtime reports no internal slots, of the above kinds or any other. */
  isOrdinary(value: object): boolean;
  /** Whether structured clone sees changes that getters make to Maps, Sets and arrays while it walks them. */
  readonly clonesLive: boolean;
  /** Number of indices of an array (of holes too where clones are live); -1 if it has other enumerable properties. */
  countIndices(array: readonly unknown[]): number;
  /** Number of enumerable string keys of an object, inherited ones included or not: whichever is faster. */
  countKeys(object: object): number;
}

/** The part of a runtime that the codec uses. */
export interface CodecAccess {
  readonly text: TextAccess;
  readonly bytes: ByteAccess;
  readonly kinds: ObjectKinds;
  readonly errors: {
    /** An error of a built-in class with an own, empty message and stack; undefined where constructors are fast. */
    bare(create: ErrorConstructor): Error | undefined;
  };
  /** Whether a file exists. True for what cannot be checked: other URLs, and files that may not be read. */
  exists(url: URL): boolean;
  /** Whether a file may be read without a question to the user. */
  canRead(url: URL): boolean;
  /** Loads a module from a file, before it returns. */
  loadNow(url: URL): void;
}

/** Heap limits of a worker, in MiB, as the runtime's own workers take them. */
export interface ResourceLimits {
  /**
   * Maximum size of the heap for long-lived objects, in MiB.
   *
   * @default the runtime's
   */
  readonly maxOldGenerationSizeMb?: number;
  /**
   * Maximum size of the heap for new objects, in MiB.
   *
   * @default the runtime's
   */
  readonly maxYoungGenerationSizeMb?: number;
  /**
   * Size of the memory for generated code, in MiB.
   *
   * @default the runtime's
   */
  readonly codeRangeSizeMb?: number;
  /**
   * Maximum size of the stack, in MiB.
   *
   * @default the runtime's
   */
  readonly stackSizeMb?: number;
}

/**
 * Permissions of tasks. A permission that is not listed is denied. A permission that the runtime cannot
 * deny to a thread must be granted explicitly, or `createPool` throws.
 */
export interface PermissionOptions {
  /**
   * Files and folders that may be read, as paths; true: all. Workers may always read heddle's own folder
   * and the folders of their task modules.
   *
   * @default false
   */
  readonly read?: boolean | readonly string[];
  /**
   * Files and folders that may be written, as paths; true: all.
   *
   * @default false
   */
  readonly write?: boolean | readonly string[];
  /**
   * Network access.
   *
   * @default false
   */
  readonly net?: boolean;
  /**
   * Starting processes. These limits do not apply to them.
   *
   * @default false
   */
  readonly run?: boolean;
  /**
   * Starting further threads.
   *
   * @default false
   */
  readonly workers?: boolean;
  /**
   * Native code. These limits do not apply to it.
   *
   * @default false
   */
  readonly ffi?: boolean;
  /**
   * WASI, the system interface of WebAssembly.
   *
   * @default false
   */
  readonly wasi?: boolean;
  /**
   * Environment variables, by name; true: all.
   *
   * @default false
   */
  readonly env?: boolean | readonly string[];
}

/** The same with every permission explicit. */
export type Permission = Required<PermissionOptions>;

/** Limits that the runtime enforces on a worker. */
export interface WorkerLimits {
  readonly resourceLimits: ResourceLimits | undefined;
  readonly permission: Permission | undefined;
}

/** How the thread of a worker is started. What is left out is the host's. */
export interface ThreadOptions {
  readonly env?: Readonly<Record<string, string>> | symbol;
  readonly argv?: readonly string[];
  readonly execArgv?: readonly string[];
}

/** One end of a message channel without a listener: read only when a ring record announces a message. */
export interface PayloadPort {
  /** Posts `message`; the objects in `transfer` move. Of a buffer at its end the first `bytes` bytes count. */
  post(message: unknown, transfer: readonly unknown[], bytes?: number): void;
  /** The oldest message, or undefined when there is none. Rethrows deserialization errors. */
  receive(): { readonly message: unknown } | undefined;
  /** Where messages come by events, and so perhaps after their record: calls back when one has come, and whether one has. */
  readonly onArrival?: (listener: () => void) => void;
  readonly hasMessage?: () => boolean;
  close(): void;
}

/** Longest delay a timer can have, in milliseconds. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1;

/** A timer that can be prevented from keeping the process running. */
export interface Timer {
  ref(): void;
  unref(): void;
  clear(): void;
}

/** A value that follows the asynchronous calls of a function (`AsyncLocalStorage`). */
export interface AsyncContext<Value> {
  /** Runs `f` and everything that it starts with this value. */
  run<Result>(value: Value, f: () => Result): Result;
  /** The value of the running code; undefined outside `run`. */
  get(): Value | undefined;
  /** Where `get` does not know it after an `await`: the value of the only `run` that is unfinished. */
  readonly guess?: () => Value | undefined;
}

/** A module that workers start with. */
export interface WorkerEntry {
  readonly url: URL;
  /** URL of the folder that workers have to read to load heddle. */
  readonly library: string;
  /** Set for a bundle that contains heddle: the version of the copy that serves the thread (`Runtime.bundleMark`). */
  readonly mark: string | undefined;
  /** Starts a worker of the program's own, which serves its tasks (`Runtime.startsGivenWorkers`). */
  readonly create?: (() => unknown) | undefined;
}

/** Why a module could not be imported. */
export interface LoadError {
  readonly error: unknown;
  /** File, line and perhaps column, if they are known and the error does not say them. */
  readonly place: string | undefined;
}

/** A tracing channel. Its subscribers get the same message object at every event of an operation. */
export interface TracingChannel {
  readonly hasSubscribers: boolean;
  /** Publishes "start", and "end" when `f` has returned; before that "error" with the property `error`, if it throws. */
  begin<Result>(message: object, f: () => Result): Result;
  /** Publishes "asyncStart", and "asyncEnd" when `f` has returned. */
  settle(message: object, f: () => void): void;
  fail(message: object): void;
}

/** What hosts and workers ask of a runtime. */
export interface Runtime extends CodecAccess {
  /** Cores this process may use, CPU affinity considered. At least 1. */
  readonly cores: number;
  /** Whether threads can share memory. Otherwise each has a copy of its lane, which messages keep up to date (`features/workers/mirror/`). */
  readonly sharesMemory: boolean;
  /** Whether a thread that waits for another can take its messages, without its event loop. */
  readonly blocks: boolean;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Whole milliseconds since the epoch, the same for all threads. Cheaper than `now`; jumps when the system's clock is set. */
  readonly coarseNow: () => number;
  /** Add this to `now()` for a clock that all threads of the process share, to a microsecond. */
  readonly originMs: number;
  /** The cheaper of `queueMicrotask` and `promise.then`. */
  readonly microtask: (callback: () => void) => void;
  /** Runs the callback in the next turn of the event loop (`setImmediate`). */
  readonly macrotask: (callback: () => void) => void;
  /** Consecutive turns after which the event loop has served I/O; see `sync/turn-clock.ts`. */
  readonly turnsPerYield: number;
  /** Whether `Atomics.waitAsync` may miss a notification, so that what waits has to look now and then (bun#34911). */
  readonly losesAsyncWakes: boolean;
  /** By internal slot. Runs no user code, even for proxies. */
  readonly isPromise: (value: unknown) => value is Promise<unknown>;
  /** Spin hint to the core; a no-op where `Atomics.pause` is missing. */
  readonly pause: () => void;
  createContext<Value>(): AsyncContext<Value>;
  /** Returns a function that runs others in the asynchronous context of now (`AsyncLocalStorage.snapshot`). */
  bindContext(): <Result>(f: () => Result) => Result;
  /** The value of an environment variable; undefined also if this process may not read it. */
  env(name: string): string | undefined;
  /** Writes a line to stderr. */
  printError(line: string): void;
  setInterval(callback: () => void, intervalMs: number): Timer;
  setTimeout(callback: () => void, delayMs: number): Timer;
  /** A payload channel: this thread's end, and the other to pass to `spawnWorker`. */
  createChannel(): { readonly local: PayloadPort; readonly remote: unknown };
  /** The worker's end, as received in its start data. */
  openPort(remote: unknown): PayloadPort;
  /** In a worker whose entry is a bundle: the version of the copy of heddle that has to serve it. */
  bundleMark(): string | undefined;
  /** Converts a path, file URL string or URL into the URL string a worker can import. */
  toModuleUrl(location: string): string;
}

/** Memory of the system, or of the container that the process runs in. */
export interface SystemMemory {
  /** What the process may use. */
  readonly totalBytes: number;
  /** What can be used without taking it from others: file caches are free. */
  readonly freeBytes: number;
}

/** What a host asks besides. */
export interface HostRuntime extends Runtime {
  /** A text: why it cannot be read. Takes 0.1 ms, in a container up to 1 ms. */
  systemMemory(): SystemMemory | string;
  /** Whether `memoryBytes` tells anything. */
  readonly measuresMemory: boolean;
  /** Whether hosts can take what workers print. */
  readonly takesOutput: boolean;
  /** Whether pools take workers that the program starts (`WorkerEntry.create`). */
  readonly startsGivenWorkers: boolean;
  /** The tracing channel of this name in `node:diagnostics_channel`. */
  tracingChannel(name: string): TracingChannel;
  /**
   * Runs the callbacks of `setTimeout` that are due, of all pools of this copy of heddle in this thread: for a host that blocks,
   * whose event loop does not. Intervals wait for the event loop.
   */
  runDueTimeouts(): void;
  /** Reasons why these limits cannot be enforced on a worker, as phrases. */
  refuseLimits(limits: WorkerLimits): readonly string[];
  /** Starts a thread with the module `entry`. The thread may always read `modules` (URLs). */
  spawnWorker(
    entry: WorkerEntry,
    name: string,
    limits: WorkerLimits,
    modules: readonly string[],
    thread: ThreadOptions,
    workerId: number,
  ): WorkerHandle;
  /** Loads what starts a process with the module `entry`. Missing where there are no processes. */
  readonly loadProcesses?: () => Promise<
    (entry: WorkerEntry, thread: ThreadOptions, options: ProcessOptions) => ChildProcess
  >;
  /**
   * Options of a thread or process that keeps compiled code in this folder, a path or file URL; undefined: the one that this process
   * uses. Missing where the runtime alone decides.
   */
  readonly withCompileCache?: (thread: ThreadOptions, folder: string | undefined) => ThreadOptions;
  /**
   * The standard streams that workers should write themselves: their messages would wait for their event loop, so output
   * of a busy task would be late. Not those that the program has replaced, nor on runtimes that have no such wait.
   */
  directOutputs(): readonly OutputName[];
  /** Whether threads take `execArgv`. */
  readonly takesExecArgv: boolean;
  /** The runtime's own condition in the `exports` of packages. */
  readonly importCondition: string;
  /**
   * Registers `callback` for the time when nothing keeps the process running any more. The process continues if the
   * callback starts something that does. Returns a function that removes the callback.
   */
  onBeforeExit(callback: () => void): () => void;
  /** Whether `WorkerHandle.terminate` stops a thread that loops. */
  readonly stopsThreads: boolean;
  /** Whether the runtime itself prints the uncaught exceptions of workers. */
  readonly printsUncaught: boolean;
  /** Prints a warning by the runtime's own mechanism. */
  warn(message: string, error?: unknown): void;
}

/** What a worker asks besides. */
export interface WorkerRuntime extends Runtime {
  /** Called in a worker before it loads users' modules: applies the limits that could not be set at its start. */
  confine(limits: WorkerLimits, library: string, modules: readonly string[]): Promise<void>;
  /** Makes an error of `error`, with which the import of `url` was rejected, and finds the place of the mistake. */
  explainLoadError(error: unknown, url: string): LoadError | Promise<LoadError>;
  /**
   * Bytes of heap and buffers of this thread, garbage included. Takes 1 to 10 µs; on Bun 30, and a collection of the new
   * objects where it may be near `limit`.
   */
  memoryBytes(limit: number): number;
  /**
   * Gives what this thread writes to these streams, also by its console, to `write` from now on. Missing where that cannot be: what
   * native code and children write is not among it.
   */
  redirectOutput?(
    names: readonly OutputName[],
    write: (name: OutputName, chunk: string | Uint8Array) => void,
  ): void;
  /** Writes the compiled code of what this thread has loaded to disk, if it keeps it there. Missing where the runtime alone decides. */
  flushCompileCache?(): void;
  /** In a worker: its host. Throws elsewhere. */
  parent(): ParentHandle;
  /** Whether a host has started this process as a worker. Missing where there are no processes. */
  readonly isProcess?: boolean;
  /** In such a process: the pipe to its host, and what is beside messages. Throws elsewhere. */
  readonly openProcess?: () => Promise<{
    readonly pipe: HostPipe;
    readonly parent: Omit<ParentHandle, "post" | "onMessage">;
  }>;
}
