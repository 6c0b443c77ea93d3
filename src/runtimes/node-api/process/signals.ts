/** Signals that end a program. */
import { Date } from "../../../builtins.ts";
import { InvalidArgumentError } from "../../../errors.ts";
import { process } from "./process.ts";

/** By name, the number of each. */
export const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

/** A signal that ends a program: SIGHUP, SIGINT or SIGTERM. */
export type SignalName = keyof typeof SIGNALS;

/** A signal that comes again so soon is the same one: a terminal has sent it to all, and `npm run` passes it on as well. */
const SAME_MS = 500;

/**
 * Runs `drain` at the first of these signals instead of ending the process. When it has settled the process ends, with the code of
 * the signal, unless the program listens for that itself. A second signal ends it at once. Returns a function that stops listening.
 */
export function onSignals(names: readonly SignalName[], drain: () => Promise<unknown>): () => void {
  if ((process as Partial<NodeJS.Process> | undefined)?.on === undefined) {
    throw new InvalidArgumentError("shutdownOnSignals() is for processes: pages get no signals.");
  }
  const exit = process.exit.bind(process); // as it is now: tools replace it
  let first: { readonly name: SignalName; readonly ms: number } | undefined;
  const listeners = names.map((name) => {
    const code = 128 + SIGNALS[name]; // as of a process that the signal has ended
    const listener = (): void => {
      const ms = Date.now();
      if (first?.name === name && ms - first.ms < SAME_MS) return;
      if (first !== undefined) return exit(code);
      first = { name, ms };
      const end = (): void => {
        stop();
        if (process.listenerCount(name) === 0) exit(code);
      };
      drain().then(end, end);
    };
    process.on(name, listener);
    return [name, listener] as const;
  });
  const stop = (): void => {
    for (const [name, listener] of listeners) process.off(name, listener);
  };
  return stop;
}
