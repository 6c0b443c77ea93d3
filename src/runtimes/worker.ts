/** What a worker asks of its runtime, beside what hosts ask as well. */
import { Buffer } from "./node-api/builtins.ts";
import { isChild } from "./processes/child-variable.ts";
import { flushOutput, onUnhandledRejection, process } from "./node-api/process/process.ts";
import { currentRuntime } from "./current.ts";
import { type HostPort, listen } from "./node-api/threads/host-port.ts";
import type { WorkerRuntime } from "./runtime.ts";
import type { OutputName, ParentHandle } from "./worker-handle.ts";
import { redirectOutput } from "./node-api/process/redirect-output.ts";
import { isBun, isBunMain, isDeno, threads } from "./node-api/threads/threads.ts";
import { memoryBytes as bunMemoryBytes } from "./bun/memory.ts";

const { postMessage } = globalThis as unknown as {
  readonly postMessage: (message: unknown) => void;
};

/** Captured when heddle is loaded. */
const exit: (code: number) => void = process.exit.bind(process);

function createParent(port: HostPort): ParentHandle {
  let isTerminating = false;
  let onUncaught = (_error: unknown): void => {};
  process.on("uncaughtExceptionMonitor", (error) => {
    isTerminating = process.listenerCount("uncaughtException") === 0;
    // Bun's hosts get only the text of an exception.
    if (isTerminating && isBun) onUncaught(error);
  });
  const parentPort = isBun ? undefined : threads().parentPort!;
  return {
    post: (parentPort?.postMessage.bind(parentPort) ?? postMessage) as ParentHandle["post"],
    onMessage: (listener) => port.take(isBun ? capturing(listener) : listener),
    onUnhandledRejection,
    onUncaught: (listener) => onUncaught = listener,
    onExit: process.on.bind(process, "exit"),
    isTerminating: () => isTerminating,
    writeDirectly,
    flushOutput,
    exit,
  };
}

const DESCRIPTORS: Readonly<Record<OutputName, number>> = { stdout: 1, stderr: 2 };

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

/** To a worker of Bun: post what is written to these streams, as `OutputMessage`. */
export interface CaptureMessage {
  readonly heddleCapture: readonly OutputName[];
}
export interface OutputMessage {
  readonly heddleOutput: OutputName;
  readonly chunk: string | Uint8Array;
}

function capturing(listener: (message: unknown) => void): (message: unknown) => void {
  return (message) => {
    const { heddleCapture } = Object(message) as Partial<CaptureMessage>;
    if (heddleCapture === undefined) listener(message);
    else capture(heddleCapture);
  };
}

/** Makes this thread post what is written to these streams. */
function capture(names: readonly OutputName[]): void {
  redirectOutput(
    names,
    (heddleOutput, chunk) => postMessage({ heddleOutput, chunk } satisfies OutputMessage),
  );
}

let parent: ParentHandle | undefined;

export const workerRuntime: WorkerRuntime = Object.assign(
  currentRuntime,
  {
    parent: () => parent ??= createParent(listen()),
    isProcess: (isBun ? isBunMain : threads().isMainThread) && isChild(),
    openProcess: async () => (await import("./processes/child-pipe.ts")).openProcess(),
    confine: isBun || isDeno
      ? async () => {}
      : async (...given) => (await import("./node/permission.ts")).confineSelf(...given),
    explainLoadError: async (error, url) =>
      isBun
        ? (await import("./bun/load-errors.ts")).explainLoadError(error)
        : isDeno
        ? { error, place: undefined }
        : (await import("./node/load-errors.ts")).explainLoadError(error, url),
    redirectOutput,
    // Deno has no such function.
    flushCompileCache: () => process.getBuiltinModule("node:module").flushCompileCache?.(),
    memoryBytes: isBun ? bunMemoryBytes : () => {
      const { used_heap_size, external_memory } = process.getBuiltinModule("node:v8")
        .getHeapStatistics();
      return used_heap_size + external_memory;
    },
  } satisfies Omit<WorkerRuntime, keyof typeof currentRuntime>,
);
