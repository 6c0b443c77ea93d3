/**
 * Timers of a pool that run even while its host blocks in `pool.sync`, when the event loop does not. The watchdog has none of these:
 * a host that blocks looks for itself.
 */
import { Set } from "../../builtins.ts";
import type { Runtime, Timer } from "../../runtimes/runtime.ts";

export interface BlockableTimers {
  /** The runtime, whose `setTimeout` and `setInterval` create such timers. */
  readonly runtime: Runtime;
  /** Calls back for those that are due. */
  runDue(nowMs: number): void;
}

interface Due {
  atMs: number;
  readonly run: () => void;
}

export function blockableTimers(runtime: Runtime): BlockableTimers {
  const pending = new Set<Due>();
  const add = (due: Due, timer: Timer): Timer => {
    pending.add(due);
    return {
      ref: () => timer.ref(),
      unref: () => timer.unref(),
      clear: () => {
        pending.delete(due);
        timer.clear();
      },
    };
  };
  const setTimeout = (callback: () => void, delayMs: number): Timer => {
    const run = (): void => {
      if (!pending.delete(due)) return;
      timer.clear();
      callback();
    };
    const due = { atMs: runtime.now() + delayMs, run };
    const timer = runtime.setTimeout(run, delayMs);
    return add(due, timer);
  };
  const setInterval = (callback: () => void, intervalMs: number): Timer => {
    const run = (): void => {
      due.atMs = runtime.now() + intervalMs;
      callback();
    };
    const due = { atMs: runtime.now() + intervalMs, run };
    const timer = runtime.setInterval(() => {
      // Otherwise it has just run, while the host blocked.
      if (due.atMs - runtime.now() <= intervalMs / 2) run();
    }, intervalMs);
    return add(due, timer);
  };
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(runtime)) as Runtime;
  return {
    runtime: Object.defineProperties(copy, {
      setTimeout: { value: setTimeout },
      setInterval: { value: setInterval },
    }),
    runDue: (nowMs) => {
      for (const { atMs, run } of pending) if (atMs <= nowMs) run();
    },
  };
}
