/** How a worker hears of its host before it is known what serves it. */
import { Error } from "../../../builtins.ts";
import { isBun, isBunMain, threads } from "./threads.ts";

export interface HostPort {
  /** Gives `listener` all messages, those that have come as well. */
  take(listener: (message: unknown) => void): void;
}

type Listen = (type: string, listener: (event: { readonly data: unknown }) => void) => void;
// Taken when heddle is loaded: DOM environments for tests replace it.
const { addEventListener } = globalThis as unknown as { readonly addEventListener: Listen };

/** On `globalThis`: in a bundle the copy of heddle that listens first may not be the one that serves the thread. */
const KEY = Symbol.for("heddle.port");
const shared = globalThis as { [KEY]?: HostPort };

/**
 * Listens from now on, since Deno and Bun drop what comes before, and the part of a bundle that serves the thread loads later. The
 * listener keeps the worker alive. Throws in other threads.
 */
export function listen(): HostPort {
  return shared[KEY] ??= open();
}

function open(): HostPort {
  const parent = isBun ? undefined : threads().parentPort;
  if (isBunMain || parent === null) throw new Error("Not in a worker thread.");
  const early: unknown[] = [];
  let receive = (message: unknown): void => void early.push(message);
  if (parent === undefined) addEventListener("message", ({ data }) => receive(data));
  else parent.on("message", receive);
  return {
    take: (listener) => {
      parent?.off("message", receive).on("message", listener);
      receive = listener;
      early.splice(0).forEach(listener);
    },
  };
}
