/**
 * Threads of Bun. Its global `Worker` answers first after 3 ms where one of `node:worker_threads` takes 14 (1.4). Unlike the web's it
 * has `ref`, `unref`, `env` (also `SHARE_ENV`), `argv`, `workerData` and an event for its end. Two things it lacks: the
 * exception that has ended it, which the worker posts before (`ParentHandle.onUncaught`), and the way of its output through the
 * host's streams, for programs that have replaced their `write`: such a worker posts its output.
 */
import { Error, Promise } from "../../builtins.ts";
import { Buffer } from "../node-api/builtins.ts";
import { replacedOutputs } from "../node-api/process/outputs.ts";
import { process } from "../node-api/process/process.ts";
import type { HostRuntime } from "../runtime.ts";
import { dataOf } from "../node-api/threads/threads.ts";
import type { CaptureMessage, OutputMessage } from "../worker.ts";

/** Bun's `Worker`. */
interface BunWorker {
  postMessage(message: unknown, transfer?: readonly unknown[]): void;
  ref(): void;
  unref(): void;
  terminate(): void;
  addEventListener(type: string, listener: (event: never) => void): void;
}

// Taken when heddle is loaded: DOM environments for tests replace it.
const { Worker } = globalThis as unknown as { readonly Worker: new () => BunWorker };

export const spawnOnBun: HostRuntime["spawnWorker"] = (
  { url, mark },
  name,
  _limits,
  _modules,
  { env, argv },
) => {
  const options = { name, env, argv, workerData: dataOf(mark) };
  // `new Worker` would make bundlers add the worker's module to their output.
  const worker = Reflect.construct(Worker, [url.href, options]) as BunWorker;
  const captured = replacedOutputs();
  if (captured.length > 0) {
    worker.postMessage({ heddleCapture: captured } satisfies CaptureMessage);
  }
  let onEnd = (): void => {};
  const ended = new Promise<void>((resolve) => onEnd = resolve);
  return {
    post: worker.postMessage.bind(worker),
    onMessage: (listener) =>
      worker.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
        const { heddleOutput, chunk } = Object(data) as Partial<OutputMessage>;
        if (heddleOutput !== "stdout" && heddleOutput !== "stderr") listener(data);
        // Bytes as a Buffer, as streams give them to a `write`.
        else process[heddleOutput].write(typeof chunk === "string" ? chunk : Buffer.from(chunk!));
      }),
    onError: (listener) =>
      worker.addEventListener("error", (event: ErrorEvent) => {
        event.preventDefault();
        listener(new Error(event.message));
      }),
    onExit: (listener) =>
      worker.addEventListener("close", ({ code }: { readonly code?: number }) => {
        onEnd();
        listener(code);
      }),
    ref: worker.ref.bind(worker),
    unref: worker.unref.bind(worker),
    terminate: () => {
      worker.terminate();
      return ended;
    },
  };
};
