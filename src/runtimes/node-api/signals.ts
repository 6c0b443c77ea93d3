/** Signals that end a program. */
import { process } from "./process.ts";

/** By name, the number of each. */
export const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

/** A signal that ends a program: SIGHUP, SIGINT or SIGTERM. */
export type SignalName = keyof typeof SIGNALS;

/** Captured when heddle is loaded. */
const exit: (code: number) => void = /* @__PURE__ */ process.exit.bind(process);

/**
 * Runs `drain` at the first of these signals instead of ending the process. When it has settled the process ends, with the code of
 * the signal, unless the program listens for that itself. A second signal ends it at once. Returns a function that stops listening.
 */
export function onSignals(names: readonly SignalName[], drain: () => Promise<unknown>): () => void {
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
