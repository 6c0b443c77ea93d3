/** What `heddle/nats` asks of the process. Not in `Runtime`: programs without it should not load this. */
import type { Socket } from "node:net";
import { createContext } from "./common.ts";
import { process } from "./process/process.ts";
import type { AsyncContext } from "../runtime.ts";

/** Captured when heddle is loaded. */
const exit: (code: number) => void = process.exit.bind(process);

/**
 * Runs `drain` at SIGTERM instead of ending the process. When it has settled the process ends with code 143, unless the
 * program listens for the signal itself. Returns a function that removes it.
 */
export function onTerminate(drain: () => Promise<void>): () => void {
  const remove = (): void => void process.off("SIGTERM", listener);
  const listener = (): void => {
    const end = (): void => {
      remove();
      if (process.listenerCount("SIGTERM") === 0) exit(143); // 128 and the number of the signal
    };
    void drain().then(end, end);
  };
  process.on("SIGTERM", listener);
  return remove;
}

/** The host's name and the number of this process. */
export function processName(): string {
  try {
    return `${process.getBuiltinModule("node:os").hostname()}-${process.pid}`;
  } catch {
    return `process-${process.pid}`; // Deno without --allow-sys
  }
}

let guarded: AsyncContext<true> | undefined;

/**
 * Runs `open`. A TCP socket that it opens, also later, raises no uncaught "error" event when its owner has removed all listeners.
 * Deno destroys a socket that was reset, and emits its "error" later (2.9). The NATS client removes its listeners in between:
 * 276 of 2,000 refused connections would have ended the process; on Node and Bun none.
 */
export function guardSockets<Result>(open: () => Result): Result {
  if (!("Deno" in globalThis)) return open();
  guarded ??= watchSockets();
  return guarded.run(true, open);
}

/** Sockets that are opened in the context keep a listener. */
function watchSockets(): AsyncContext<true> {
  const context = createContext<true>();
  const { subscribe } = process.getBuiltinModule("node:diagnostics_channel");
  subscribe("net.client.socket", (message) => {
    if (context.get()) keepListening((message as { socket: Socket }).socket);
  });
  return context;
}

function keepListening(socket: Socket): void {
  const { removeAllListeners } = socket;
  socket.removeAllListeners = (...names: Parameters<Socket["removeAllListeners"]>) => {
    removeAllListeners.apply(socket, names);
    if (socket.listenerCount("error") === 0) socket.on("error", () => {});
    return socket;
  };
}
