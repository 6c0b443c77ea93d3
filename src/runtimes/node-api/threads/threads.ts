/** The module `node:worker_threads`, and what a thread knows of its start. */
import { MessageChannel } from "../../../builtins.ts";
import type { MessagePort, Transferable } from "node:worker_threads";
import { process } from "../process/process.ts";
import type { PayloadPort } from "../../runtime.ts";

type Threads = typeof import("node:worker_threads");

export const isBun: boolean = "Bun" in globalThis;
export const isDeno: boolean = "Deno" in globalThis;

declare const Bun: { readonly isMainThread: boolean };

/** What the module reads of the global object when Bun loads it (1.4). */
const READ = ["self", "WeakSet"] as const;
const originals = READ.map((name) => [name, globalThis[name]] as const);

let loaded: Threads | undefined;

/** Takes each thread of Bun 2.3 ms to load, so late there that its program may have replaced globals. */
export function threads(): Threads {
  return loaded ??= isBun ? loadOnBun() : process.getBuiltinModule("node:worker_threads");
}

function loadOnBun(): Threads {
  const replaced = originals.flatMap(([name, value]) => {
    const property = Object.getOwnPropertyDescriptor(globalThis, name);
    if (property?.configurable !== true || globalThis[name] === value) return [];
    Object.defineProperty(globalThis, name, { configurable: true, writable: true, value });
    return [[name, property] as const];
  });
  const module = process.getBuiltinModule("node:worker_threads");
  for (const [name, property] of replaced) Object.defineProperty(globalThis, name, property);
  return module;
}

/** Whether this is Bun's main thread, which need not load the module to know that nobody has started it. */
export const isBunMain: boolean = isBun && Bun.isMainThread;

/** Key in the `workerData` of threads that start with a bundle. */
const MARK = "heddle.bundle";

/** The mark of this thread, from its `workerData`. */
export function bundleMark(): string | undefined {
  if (isBunMain) return undefined;
  return (threads().workerData as { readonly [MARK]?: string } | null | undefined)?.[MARK];
}

/** The option `workerData` for a thread with this mark. */
export function dataOf(mark: string | undefined): object | undefined {
  return mark === undefined ? undefined : { [MARK]: mark };
}

/** Deno's getter of `crypto`. */
const loadCrypto = isDeno ? Object.getOwnPropertyDescriptor(globalThis, "crypto")?.get : undefined;

export function openPort(remote: unknown): PayloadPort {
  const port = remote as MessagePort;
  // Nobody listens for its "close", which Deno could not dispatch if a DOM environment had replaced `Event` (2.9).
  if (isDeno) Object.defineProperty(port, "dispatchEvent", { value: () => true });
  return {
    post: (message, transfer) => port.postMessage(message, transfer as Transferable[]),
    receive: () => {
      // Loads the implementation of CryptoKey once: a key that Deno receives before is an empty object (2.9).
      loadCrypto?.call(globalThis);
      return threads().receiveMessageOnPort(port);
    },
    close: () => port.close(),
  };
}

export function createChannel(): { readonly local: PayloadPort; readonly remote: unknown } {
  const { port1, port2 } = new MessageChannel();
  return { local: openPort(port1), remote: port2 };
}
