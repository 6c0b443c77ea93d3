/**
 * Threads of Bun. Its global `Worker` answers first after 3 ms where one of `node:worker_threads` takes 14 (1.4). Unlike the web's it
 * has `ref`, `unref`, `env` (also `SHARE_ENV`), `argv`, `workerData` and an event for its end. Two things it lacks: the
 * exception that has ended it, which the worker posts before (`HostPort.losesErrors`), and the way of its output through the
 * host's streams, for programs that have replaced their `write`: such a worker posts its output.
 */
import { Error, Promise } from "../../builtins.ts";
import { Buffer } from "node:buffer";
import type { MessagePort, Transferable } from "node:worker_threads";
import { type HostPort, outputsOf, type Threads } from "../common.ts";
import { process } from "../process.ts";
import type {
  OutputName,
  PayloadPort,
  ThreadOptions,
  WorkerEntry,
  WorkerHandle,
} from "../runtime.ts";
import { dataOf, markIn } from "../worker-threads.ts";

interface WorkerOptions {
  readonly name: string;
  readonly env: object | undefined;
  readonly argv: readonly string[] | undefined;
  readonly workerData: unknown;
}

/** Bun's `Worker`. */
interface BunWorker extends EventTarget {
  postMessage(message: unknown, transfer?: readonly unknown[]): void;
  ref(): void;
  unref(): void;
  terminate(): void;
}

type Listen = (type: string, listener: (event: { readonly data: unknown }) => void) => void;

// Taken when heddle is loaded: DOM environments for tests replace them.
const { MessageChannel, Worker, postMessage, addEventListener } = globalThis as unknown as {
  readonly MessageChannel: typeof globalThis.MessageChannel;
  readonly Worker: new (url: string, options: WorkerOptions) => BunWorker;
  readonly postMessage: (message: unknown) => void;
  readonly addEventListener: Listen;
};

/** What the module reads of the global object when it is loaded (1.4). */
const READ = ["self", "WeakSet"] as const;
const originals = READ.map((name) => [name, globalThis[name]] as const);

let loaded: typeof import("node:worker_threads") | undefined;

/** Takes each thread 2.3 ms to load, so late that its program may have replaced globals. */
export function threads(): typeof import("node:worker_threads") {
  if (loaded !== undefined) return loaded;
  const replaced = originals.flatMap(([name, value]) => {
    const property = Object.getOwnPropertyDescriptor(globalThis, name);
    if (property?.configurable !== true || globalThis[name] === value) return [];
    Object.defineProperty(globalThis, name, { configurable: true, writable: true, value });
    return [[name, property] as const];
  });
  loaded = process.getBuiltinModule("node:worker_threads");
  for (const [name, property] of replaced) Object.defineProperty(globalThis, name, property);
  return loaded;
}

/** To a worker: post what is written to these streams. */
interface CaptureMessage {
  readonly heddleCapture: readonly OutputName[];
}
/** From it: what was written. */
interface OutputMessage {
  readonly heddleOutput: OutputName;
  readonly chunk: string | Uint8Array;
}

function hasKey<Key extends string>(value: unknown, key: Key): value is Record<Key, unknown> {
  return typeof value === "object" && value !== null && key in value;
}

function createPort(port: MessagePort): PayloadPort {
  return {
    post: (message, transfer) => port.postMessage(message, transfer as Transferable[]),
    receive: () => threads().receiveMessageOnPort(port),
    close: () => port.close(),
  };
}

function createHandle(worker: BunWorker): WorkerHandle {
  const listen = worker.addEventListener.bind(worker) as unknown as Listen;
  let onEnd = (): void => {};
  const ended = new Promise<void>((resolve) => onEnd = resolve);
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    onMessage: (listener) =>
      listen("message", ({ data }) => {
        const name = hasKey(data, "heddleOutput") && data.heddleOutput;
        if (name !== "stdout" && name !== "stderr") listener(data);
        else print(name, (data as OutputMessage).chunk);
      }),
    onError: (listener) =>
      listen("error", (event) => {
        (event as unknown as Event).preventDefault();
        listener(new Error((event as unknown as ErrorEvent).message));
      }),
    onExit: (listener) =>
      listen("close", (event) => {
        onEnd();
        listener((event as unknown as CloseEvent).code);
      }),
    ref: () => worker.ref(),
    unref: () => worker.unref(),
    terminate: async () => {
      worker.terminate();
      await ended;
    },
  };
}

/** Bytes as a Buffer, as streams give them to a `write`. */
function print(name: OutputName, chunk: string | Uint8Array): void {
  process[name].write(typeof chunk === "string" ? chunk : Buffer.from(chunk));
}

function spawn(
  { url, mark }: WorkerEntry,
  name: string,
  { env, argv, workerData }: ThreadOptions,
  isNative: (stream: object) => boolean,
): WorkerHandle {
  const options: WorkerOptions = {
    name,
    workerData: dataOf(mark) ?? workerData,
    env: env as object,
    argv,
  };
  // `new Worker` would make bundlers add the worker's module to their output.
  const worker = Reflect.construct(Worker, [url.href, options]) as BunWorker;
  // Asked while the thread starts, since the first look at the streams takes 4 ms.
  const captured = outputsOf((stream) => !isNative(stream));
  if (captured.length > 0) {
    worker.postMessage({ heddleCapture: captured } satisfies CaptureMessage);
  }
  return createHandle(worker);
}

/** Makes this thread post what is written to these streams. */
function capture({ heddleCapture: names }: CaptureMessage): void {
  for (const name of names) {
    const write = (given: string | Uint8Array, ...rest: unknown[]): boolean => {
      const [encoding] = rest;
      const chunk = typeof given === "string" && typeof encoding === "string"
        ? Buffer.from(given, encoding as BufferEncoding)
        : given;
      postMessage({ heddleOutput: name, chunk } satisfies OutputMessage);
      const callback = rest.at(-1);
      if (typeof callback === "function") callback();
      return true;
    };
    Object.assign(process[name], { write });
  }
  // Bun's own console writes to the descriptors.
  const { Console } = process.getBuiltinModule("node:console");
  Object.assign(console, new Console(process.stdout, process.stderr));
}

/** `isMain`: whether this is the main thread. `isNative`: whether the `write` of an output stream is the runtime's own. */
export function webWorkers(isMain: boolean, isNative: (stream: object) => boolean): Threads {
  return {
    bundleMark: () => (isMain ? undefined : markIn(threads().workerData)),
    createChannel: () => {
      const { port1, port2 } = new MessageChannel();
      return { local: createPort(port1 as unknown as MessagePort), remote: port2 };
    },
    openPort: (remote) => createPort(remote as MessagePort),
    hostPort: () => (isMain ? undefined : hostPort),
    spawnWorker: (entry, name, _limits, _modules, thread) => spawn(entry, name, thread, isNative),
  };
}

const hostPort: HostPort = {
  losesErrors: true,
  post: (message) => postMessage(message),
  listen: (listener) =>
    addEventListener("message", ({ data }) => {
      if (hasKey(data, "heddleCapture")) capture(data as unknown as CaptureMessage);
      else listener(data);
    }),
};
