/**
 * What heddle needs from a JavaScript runtime. The adapters beside this file are the only code that
 * names one; everything else gets an object of this shape passed in.
 */

/** Reads and writes strings in shared memory by the fastest verified way of the runtime. */
export interface TextAccess {
  /**
   * UTF-8 encodes as much of `text` as fits `target[start…end)`. Sets `read` (UTF-16 units consumed)
   * and `written` (bytes). Lone surrogates become U+FFFD: callers check for them.
   */
  encodeInto(
    text: string,
    target: Uint8Array<SharedArrayBuffer>,
    start: number,
    end: number,
  ): { read: number; written: number };
  /** Decodes `[start…end)`, known to be ASCII. */
  readAscii(source: Uint8Array<SharedArrayBuffer>, start: number, end: number): string;
  /** Decodes `[start…end)`, known to be valid UTF-8. A leading byte order mark is kept. */
  readUtf8(source: Uint8Array<SharedArrayBuffer>, start: number, end: number): string;
}

/** Copies bytes out of shared memory and knows the runtime's `Buffer`. */
export interface ByteAccess {
  /** By internal slot: runs no user code, whatever proxy it is given. */
  isArrayBuffer(value: unknown): value is ArrayBuffer;
  /** A fresh, exact, unshared copy of `source[start…end)`. */
  copyOut(source: Uint8Array<SharedArrayBuffer>, start: number, end: number): ArrayBuffer;
  isBuffer(value: object): boolean;
  /** A Node `Buffer` over the whole of `bytes`. */
  toBuffer(bytes: ArrayBuffer): Uint8Array;
}

/** One end of a message channel without a listener: read only when a ring record says so. */
export interface PayloadPort {
  post(message: unknown): void;
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
  /** Ends this worker. */
  exit(code: number): void;
}

/** A timer that can be told not to keep the process running. */
export interface Timer {
  ref(): void;
  unref(): void;
  clear(): void;
}

export interface Runtime {
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
  /** By internal slot: runs no user code, whatever proxy it is given. */
  readonly isPromise: (value: unknown) => value is Promise<unknown>;
  /** Spin hint to the core; a no-op where `Atomics.pause` is missing. */
  readonly pause: () => void;
  readonly text: TextAccess;
  readonly bytes: ByteAccess;
  setInterval(callback: () => void, intervalMs: number): Timer;
  setTimeout(callback: () => void, delayMs: number): Timer;
  /** A payload channel: this thread's end, and the other to pass to `spawnWorker`. */
  createChannel(): { readonly local: PayloadPort; readonly remote: unknown };
  /** The worker's end, as received in its start data. */
  openPort(remote: unknown): PayloadPort;
  /** Starts the module `entry` in a thread with `data`, in which `transfer` lists moved objects. */
  spawnWorker(
    entry: URL,
    data: unknown,
    transfer: readonly unknown[],
    name: string,
  ): WorkerHandle;
  /** In a worker: its host, and the data it was started with. Throws elsewhere. */
  parent(): { readonly handle: ParentHandle; readonly data: unknown };
  /** Converts a path, file URL string or URL into the URL string a worker can import. */
  toModuleUrl(location: string): string;
  /** Prints a warning in the runtime's way. */
  warn(message: string, error: unknown): void;
}
