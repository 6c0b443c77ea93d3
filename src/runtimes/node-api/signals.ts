/** Signals that end a program. */
import { InvalidArgumentError } from "../../errors.ts";
import { process } from "./process.ts";

/** By name, the number of each. */
export const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

/** A signal that ends a program: SIGHUP, SIGINT or SIGTERM. */
export type SignalName = keyof typeof SIGNALS;

/**
 * Runs `drain` at the first of these signals instead of ending the process. When it has settled the process ends, with the code of
 * the signal, unless the program listens for that itself. A second signal ends it at once. Returns a function that stops listening.
 */
export function onSignals(names: readonly SignalName[], drain: () => Promise<unknown>): () => void {
  if ((process as Partial<NodeJS.Process> | undefined)?.on === undefined) {
    throw new InvalidArgumentError("shutdownOnSignals() is for processes: pages get no signals.");
  }
  const exit = process.exit.bind(process); // as it is now: tools replace it
  let isDraining = false;
  const listeners = names.map((name) => {
    const code = 128 + SIGNALS[name]; // as of a process that the signal has ended
    const listener = (): void => {
      if (isDraining) return exit(code);
      isDraining = true;
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
