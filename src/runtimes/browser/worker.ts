/** In the browser's build this takes the place of `runtimes/worker.ts`. */
import { Error } from "../../builtins.ts";
import type { WorkerRuntime } from "../runtime.ts";
import type { ParentHandle } from "../worker-handle.ts";
import { currentRuntime } from "./current.ts";
import type { LifeMessage } from "./threads.ts";

type Listen = (type: string, listener: (event: never) => void) => void;
interface WorkerScope {
  readonly postMessage: (message: unknown, transfer?: readonly unknown[]) => void;
  readonly addEventListener: Listen;
  close(): void;
}

let handle: ParentHandle | undefined;

function createParent(): ParentHandle {
  if (!("WorkerGlobalScope" in globalThis)) throw new Error("Not in a web worker.");
  const scope = globalThis as unknown as WorkerScope;
  const { addEventListener, postMessage } = scope;
  const close = scope.close.bind(scope);
  let isTerminating = false;
  let early: unknown[] | undefined = [];
  let receive = (message: unknown): void => void early?.push(message);
  let onUncaught = (_error: unknown): void => {};
  let onExit = (): void => {};
  const exit = (code: number): void => {
    isTerminating = true;
    onExit();
    postMessage({ heddleExit: code } satisfies LifeMessage);
    close();
  };
  Object.defineProperty(scope, "close", { configurable: true, value: () => exit(0) });
  addEventListener("message", ({ data }: MessageEvent<unknown>) => receive(data));
  addEventListener("error", (event: ErrorEvent) => {
    event.preventDefault();
    if (isTerminating) return;
    isTerminating = true;
    onUncaught(event.error ?? new Error(event.message));
    exit(1);
  });
  postMessage({ heddleBegun: true } satisfies LifeMessage);
  return {
    post: (message, transfer = []) => postMessage(message, transfer),
    onMessage: (listener) => {
      receive = listener;
      early?.forEach(listener);
      early = undefined;
    },
    onUnhandledRejection: (listener) =>
      addEventListener("unhandledrejection", (event: PromiseRejectionEvent) => {
        if (event.defaultPrevented) return;
        event.preventDefault();
        listener(event.reason);
      }),
    onUncaught: (listener) => void (onUncaught = listener),
    onExit: (listener) => void (onExit = listener),
    isTerminating: () => isTerminating,
    writeDirectly: () => {},
    flushOutput: (callback) => callback(),
    exit,
  };
}

export const workerRuntime: WorkerRuntime = Object.assign(currentRuntime, {
  parent: () => handle ??= createParent(),
  confine: async () => {},
  explainLoadError: (error: unknown) => ({ error, place: undefined }),
  memoryBytes: () => 0,
});
