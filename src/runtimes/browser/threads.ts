/**
 * Threads of a browser: web workers. What they lack of a thread's handle is made here:
 *
 * - An event for the end. A worker that ends by itself says so by a message. One that the browser kills says nothing, but its
 *   lock (Web Locks API, in secure contexts) is free then, and the host, which waits for that lock, gets it.
 * - Exceptions that end a worker. Browsers report one and let the worker go on; here it ends, as on other runtimes.
 * - Reading a port without the event loop. Messages come by events, so a record may be there before its payload
 *   (`lane/gated-consumer.ts`).
 */
import { Error, JSON, MessageChannel, Promise, URL } from "../../builtins.ts";
import { WorkerStartError } from "../../errors.ts";
import { macrotask } from "./clock.ts";
import type {
  ParentHandle,
  PayloadPort,
  Runtime,
  ThreadOptions,
  WorkerEntry,
  WorkerHandle,
} from "../runtime.ts";

/** First message to a worker: hold this lock while you live. */
interface LockMessage {
  readonly heddleLock: string;
}
/** From it: it has the lock, or it ends. */
type LifeMessage = { readonly heddleLocked: true } | { readonly heddleExit: number };

function hasKey<Key extends string>(value: unknown, key: Key): value is Record<Key, unknown> {
  return typeof value === "object" && value !== null && key in value;
}

interface Locks {
  request(name: string, callback: () => Promise<void> | void): Promise<void>;
}
const locksOf = (): Locks | undefined =>
  (globalThis.navigator as { readonly locks?: Locks } | undefined)?.locks;

let lastLock = 0;
const lockPrefix = `heddle-${Math.random().toString(36).slice(2)}-`;

export function createPort(port: MessagePort): PayloadPort {
  const arrived: (() => unknown)[] = [];
  let onArrival = (): void => {};
  const arrive = (read: () => unknown): void => {
    arrived.push(read);
    onArrival();
  };
  port.onmessage = ({ data }) => arrive(() => data);
  port.onmessageerror = () =>
    arrive(() => {
      throw new Error("The browser could not deserialize it.");
    });
  return {
    post: (message, transfer) => port.postMessage(message, transfer as Transferable[]),
    receive: () => arrived.length === 0 ? undefined : { message: arrived.shift()!() },
    hasMessage: () => arrived.length > 0,
    onArrival: (listener) => void (onArrival = listener),
    close: () => port.close(),
  };
}

export function createChannel(): { readonly local: PayloadPort; readonly remote: unknown } {
  const { port1, port2 } = new MessageChannel();
  return { local: createPort(port1), remote: port2 };
}

/** Violations of the page's policy, which events of workers do not mention. */
const violations: string[] = [];
globalThis.document?.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => {
  violations.push(effectiveDirective);
});

/** Why a worker's script was not loaded. The browser tells no more than that. */
async function explainStart(
  url: URL | undefined,
  newViolations: readonly string[],
): Promise<WorkerStartError> {
  const script = url === undefined
    ? "The script of a worker"
    : `The script of workers, ${url.href},`;
  const policy = newViolations.find((name) => /^(?:worker|script|child|default)-src/.test(name));
  let reason =
    "the browser does not say why; it, or a module that it imports, may be missing or damaged";
  if (policy !== undefined) {
    reason =
      `the page's Content-Security-Policy forbids it (${policy}): it needs worker-src with its origin`;
  } else if (url !== undefined) {
    try {
      const { ok, status, headers } = await fetch(url);
      const type = headers.get("content-type") ?? "none";
      if (!ok) reason = `the server answered ${status}`;
      else if (!/(?:java|ecma)script/.test(type)) {
        reason = `the server sends it with the type "${type}", and modules need text/javascript`;
      } else if (globalThis.crossOriginIsolated && !headers.has("cross-origin-embedder-policy")) {
        reason = "it lacks the header Cross-Origin-Embedder-Policy, which its page has";
      }
    } catch (error) {
      reason = `it cannot be fetched (${String(error)})`;
    }
  }
  return new WorkerStartError(`${script} could not be loaded: ${reason}.`);
}

function createHandle(worker: Worker, url: URL | undefined, blob?: string): WorkerHandle {
  const earlier = violations.length;
  let hasBegun = false;
  let isOver = false;
  let onError = (_error: unknown): void => {};
  let onExit = (_exitCode: number | undefined): void => {};
  let onEnd = (): void => {};
  const ended = new Promise<void>((resolve) => onEnd = resolve);
  const listeners: ((message: unknown) => void)[] = [];
  const end = (exitCode: number | undefined): void => {
    if (isOver) return;
    isOver = true;
    worker.terminate();
    if (blob !== undefined) URL.revokeObjectURL(blob);
    // Messages that it posted to its ports before its end wait in this event loop: their events come before these two turns.
    macrotask(() =>
      macrotask(() => {
        onEnd();
        onExit(exitCode);
      })
    );
  };
  const locks = locksOf();
  const lock = `${lockPrefix}${lastLock++}`;
  worker.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
    hasBegun = true;
    if (hasKey(data, "heddleExit")) end(data.heddleExit as number);
    else if (hasKey(data, "heddleLocked")) {
      void locks!.request(lock, () => end(undefined)).catch(() => {});
    } else if (!isOver) listeners.forEach((listener) => listener(data));
  });
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    if (isOver) return;
    if (!hasBegun && !event.message) {
      void explainStart(url, violations.slice(earlier)).then((error) => {
        onError(error);
        end(undefined);
      });
      return;
    }
    onError((event.error as unknown) ?? new Error(event.message));
    end(1);
  });
  if (locks !== undefined) worker.postMessage({ heddleLock: lock } satisfies LockMessage);
  return {
    post: (message, transfer) => worker.postMessage(message, (transfer ?? []) as Transferable[]),
    onMessage: (listener) => void listeners.push(listener),
    onError: (listener) => void (onError = listener),
    onExit: (listener) => void (onExit = listener),
    ref: () => {}, // a page stays open anyway
    unref: () => {},
    terminate: async () => {
      end(1);
      await ended;
    },
  };
}

/** A worker of heddle's own script, written so that bundlers recognize it and add the script to their output. */
const ownWorker = (): Worker =>
  new Worker(new URL("./worker.js", import.meta.url), { type: "module" });

/** Scripts of other origins can be imported, but no worker may start with one. */
function foreignWorker(url: URL): WorkerHandle {
  const source = `import ${JSON.stringify(url.href)};`;
  const blob = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  return createHandle(new Worker(blob, { type: "module" }), url, blob);
}

export function spawnWorker(entry: WorkerEntry, thread: ThreadOptions): WorkerHandle {
  const refused = (["env", "argv"] as const).filter((name) => thread[name] !== undefined);
  if (refused.length > 0) {
    throw new WorkerStartError(
      `Workers of a browser have no ${refused.join(" and no ")} (option worker).`,
    );
  }
  if (entry.create !== undefined) return createHandle(entry.create() as Worker, undefined);
  let worker: Worker;
  try {
    worker = ownWorker();
  } catch (error) {
    if ((error as { readonly name?: unknown }).name !== "SecurityError") throw error;
    return foreignWorker(entry.url);
  }
  return createHandle(worker, entry.url);
}

type Listen = (type: string, listener: (event: never) => void) => void;
interface WorkerScope {
  readonly postMessage: (message: unknown, transfer?: readonly unknown[]) => void;
  readonly addEventListener: Listen;
  close(): void;
}

let handle: ParentHandle | undefined;

/** This worker's handle on its host. Created at once, since messages may come early. */
export const parent: Runtime["parent"] = () => handle ??= createParent();

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
  addEventListener("message", ({ data }: MessageEvent<unknown>) => {
    if (!hasKey(data, "heddleLock")) return receive(data);
    void locksOf()?.request(data.heddleLock as string, () => {
      postMessage({ heddleLocked: true } satisfies LifeMessage);
      return new Promise<void>(() => {});
    }).catch(() => {}); // in contexts that are not secure
  });
  addEventListener("error", (event: ErrorEvent) => {
    event.preventDefault();
    if (isTerminating) return;
    isTerminating = true;
    onUncaught(event.error ?? new Error(event.message));
    exit(1);
  });
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
