/**
 * What heddle needs from a JavaScript runtime. The adapters beside this file are the only code that
 * names one; everything else gets an object of this shape passed in.
 */

/** What `writeOneByte` has found: a unit above 0xff, one above 0x7f perhaps, none of either. */
export const NOT_ONE_BYTE = 0;
export const LATIN1 = 1;
export const ASCII = 2;
export type Written = typeof NOT_ONE_BYTE | typeof LATIN1 | typeof ASCII;

/** Reads and writes strings in shared memory by the fastest verified way of the runtime. */
export interface TextAccess {
  /** From so many short strings on, joining them and one `writeOneByte` are faster than `writeUnits` for each. */
  readonly joinedTexts: number;
  /** Longest one-byte string, in units, that a loop in JavaScript reads faster than `readOneByte`. */
  readonly loopUnits: number;
  /**
   * Writes the low byte of each unit of a short `text` at `start`, by a loop; returns all units or'ed: above 0xff if
   * one of them is.
   */
  writeUnits(text: string, target: Uint8Array<SharedArrayBuffer>, start: number): number;
  /**
   * Writes `text` with one byte per unit at `start`, if no unit is above 0xff. NOT_ONE_BYTE: there is one,
   * and up to `text.length` bytes from `start` are undefined now. ASCII only where that is known for nothing.
   */
  writeOneByte(text: string, target: Uint8Array<SharedArrayBuffer>, start: number): Written;
  /**
   * Writes `text` with two bytes per unit, little-endian, at the even offset `start` of `bytes`, which
   * `units` shows as well.
   */
  writeTwoByte(
    text: string,
    bytes: Uint8Array<SharedArrayBuffer>,
    units: Uint16Array<SharedArrayBuffer>,
    start: number,
  ): void;
  /** Reads `[start, end)`, one byte per unit. */
  readOneByte(source: Uint8Array<SharedArrayBuffer>, start: number, end: number): string;
  /** The same where no byte is above 0x7f. For others it returns some text or other. */
  readAscii(source: Uint8Array<SharedArrayBuffer>, start: number, end: number): string;
  /** Reads `[start, end)`, two bytes per unit, little-endian. */
  readTwoByte(source: Uint8Array<SharedArrayBuffer>, start: number, end: number): string;
  /**
   * UTF-8 encodes as much of `text` as fits `target[start, end)`. Sets `read` (UTF-16 units consumed)
   * and `written` (bytes). Lone surrogates become U+FFFD: callers check for them.
   */
  encodeInto(
    text: string,
    target: Uint8Array<SharedArrayBuffer>,
    start: number,
    end: number,
  ): { read: number; written: number };
  /** Decodes `[start, end)`, known to be valid UTF-8. A leading byte order mark is kept. */
  readUtf8(source: Uint8Array<SharedArrayBuffer>, start: number, end: number): string;
}

/** Copies bytes out of shared memory and knows the runtime's `Buffer`. */
export interface ByteAccess {
  /** A fresh, exact, unshared copy of `source[start, end)`, alone in its buffer. */
  copyOut(
    source: Uint8Array<SharedArrayBuffer>,
    start: number,
    end: number,
  ): Uint8Array<ArrayBuffer>;
  /** A fresh, exact, unshared copy of `length` bytes of `source` from `start`. */
  copy(source: ArrayBufferLike, start: number, length: number): ArrayBuffer;
  /** Of Node's `Buffer`. */
  readonly bufferPrototype: object;
  /** Whether somebody has said that it must not be moved, as Node has of the pool that small Buffers are parts of. */
  isUntransferable(buffer: ArrayBuffer): boolean;
  /** A Node `Buffer` over the whole of `bytes`. */
  toBuffer(bytes: ArrayBuffer): Uint8Array;
}

/** Tells objects apart by their internal slots: runs no user code, whatever proxy it is given. */
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
  /** What `import * as name` gives. */
  isModuleNamespace(value: object): boolean;
  /** The `arguments` of a function. */
  isArguments(value: object): boolean;
  /** Whether instances of the class of this prototype, which is no global one, are cloned in a way of the runtime's own. */
  isHostClass(prototype: object): boolean;
  /** None of the above, nor anything else with slots that the runtime tells: plain by all we know. */
  isOrdinary(value: object): boolean;
  /**
   * Whether this runtime's structured clone walks Maps, Sets and arrays as they are when each part has
   * its turn, seeing what getters changed meanwhile; others take what is there at the start.
   */
  readonly clonesLive: boolean;
  /**
   * How many indices an array has, holes apart (or with them, where clones are live); -1 if it has enumerable
   * properties besides.
   */
  countIndices(array: readonly unknown[]): number;
  /** How many enumerable string keys an object has, in the quickest way: with those it inherits, or without. */
  countKeys(object: object): number;
}

/** Makes errors for the codec. */
export interface ErrorAccess {
  /**
   * An error of this class, one of those that structured clone tells apart, with an own message and stack, both empty,
   * where the constructor is slow; undefined where it is not.
   */
  bare(create: ErrorConstructor): Error | undefined;
}

/** What the codec needs of a runtime. */
export interface CodecAccess {
  readonly text: TextAccess;
  readonly bytes: ByteAccess;
  readonly kinds: ObjectKinds;
  readonly errors: ErrorAccess;
}

/** Heap limits of a worker, in MiB, as the runtime's own workers take them. */
export interface ResourceLimits {
  readonly maxOldGenerationSizeMb?: number;
  readonly maxYoungGenerationSizeMb?: number;
  readonly codeRangeSizeMb?: number;
  readonly stackSizeMb?: number;
}

/**
 * What tasks may do. What is not named is denied, and what the runtime cannot deny to a thread must be
 * allowed by name, or `createPool` throws.
 */
export interface PermissionOptions {
  /**
   * Files and folders that may be read, as paths; true: all. Workers may read heddle's own folder and
   * the folders of their task modules whatever this says.
   */
  readonly read?: boolean | readonly string[];
  readonly write?: boolean | readonly string[];
  readonly net?: boolean;
  /** Starting processes. They are not held to any of this. */
  readonly run?: boolean;
  /** Starting further threads. */
  readonly workers?: boolean;
  /** Native code, which is not held to any of this. */
  readonly ffi?: boolean;
  readonly wasi?: boolean;
  /** Environment variables, by name; true: all. */
  readonly env?: boolean | readonly string[];
}

/** The same with every right spelt out. */
export type Permission = Required<PermissionOptions>;

/** What a worker is held to by its runtime. */
export interface WorkerLimits {
  readonly resourceLimits: ResourceLimits | undefined;
  readonly permission: Permission | undefined;
}

/** One end of a message channel without a listener: read only when a ring record says so. */
export interface PayloadPort {
  /** Posts `message`; the objects in `transfer` move. */
  post(message: unknown, transfer: readonly unknown[]): void;
  /** The oldest message, or undefined when there is none. Throws what deserializing throws. */
  receive(): { readonly message: unknown } | undefined;
  close(): void;
}

/** Host's handle on a worker thread. */
export interface WorkerHandle {
  post(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  /** Uncaught error in the worker, reported before `onExit`. */
  onError(listener: (error: unknown) => void): void;
  onExit(listener: (exitCode: number | undefined) => void): void;
  /** Whether the worker alone keeps the process running. */
  ref(): void;
  unref(): void;
  /** Stops the thread wherever it is. Settles when the runtime says that it is gone. */
  terminate(): Promise<void>;
}

/** A worker's handle on its host. */
export interface ParentHandle {
  post(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  /** Keeps unhandled rejections from ending the worker and reports them. */
  onUnhandledRejection(listener: (reason: unknown) => void): void;
  /**
   * Whether an exception that nobody has caught is ending this thread. Code may still run in it: on Node
   * the promise callbacks that were due.
   */
  isDoomed(): boolean;
  /** Ends this worker. */
  exit(code: number): void;
}

/** Longest delay a timer can have, in milliseconds. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1;

/** A timer that can be told not to keep the process running. */
export interface Timer {
  ref(): void;
  unref(): void;
  clear(): void;
}

export interface Runtime extends CodecAccess {
  readonly name: "node" | "deno" | "bun";
  /** Cores this process may use, CPU affinity considered. At least 1. */
  readonly cores: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Whichever of `queueMicrotask` and `promise.then` is cheaper here. */
  readonly microtask: (callback: () => void) => void;
  /** Runs the callback in the next turn of the event loop (`setImmediate`). */
  readonly soon: (callback: () => void) => void;
  /** Turns in a row until I/O has surely had its chance; see `park/turn-clock.ts`. */
  readonly turnsPerYield: number;
  /** Most bytes in buffers that are given to one worker before it answers; see `host/moved-bytes.ts`. */
  readonly mostMovedBytes: number;
  /** By internal slot: runs no user code, whatever proxy it is given. */
  readonly isPromise: (value: unknown) => value is Promise<unknown>;
  /** Spin hint to the core; a no-op where `Atomics.pause` is missing. */
  readonly pause: () => void;
  setInterval(callback: () => void, intervalMs: number): Timer;
  setTimeout(callback: () => void, delayMs: number): Timer;
  /** A payload channel: this thread's end, and the other to pass to `spawnWorker`. */
  createChannel(): { readonly local: PayloadPort; readonly remote: unknown };
  /** The worker's end, as received in its start data. */
  openPort(remote: unknown): PayloadPort;
  /** Why a worker cannot be held to these limits here, in a phrase for each; none: it can. */
  refuseLimits(limits: WorkerLimits): readonly string[];
  /**
   * Starts the module `entry` in a thread with `data`, in which `transfer` lists moved objects. The files of
   * `modules` (URLs) may be read whatever the limits say.
   */
  spawnWorker(
    entry: URL,
    data: unknown,
    transfer: readonly unknown[],
    name: string,
    limits: WorkerLimits,
    modules: readonly string[],
  ): WorkerHandle;
  /** In a worker, before it loads anything of users': what its thread is held to beyond its start. */
  confineSelf(limits: WorkerLimits, modules: readonly string[]): void;
  /** Bytes of heap and buffers that this thread holds, garbage included. Takes 1 to 10 µs. */
  memoryBytes(): number;
  /** In a worker: its host, and the data it was started with. Throws elsewhere. */
  parent(): { readonly handle: ParentHandle; readonly data: unknown };
  /** Converts a path, file URL string or URL into the URL string a worker can import. */
  toModuleUrl(location: string): string;
  /** Prints a warning in the runtime's way. */
  warn(message: string, error: unknown): void;
}
