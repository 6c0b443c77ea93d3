/** Timers of a pool that run even while its host blocks in `pool.sync`, when the event loop does not. */
import { Set } from "../../builtins.ts";
import type { Runtime, Timer } from "../../runtimes/runtime.ts";

export interface BlockableTimers {
  /** The runtime, whose `setTimeout` creates such timers. */
  readonly runtime: Runtime;
  /** Calls back for those that are due. */
  runDue(nowMs: number): void;
}

interface Due {
  readonly atMs: number;
  readonly run: () => void;
}

export function blockableTimers(runtime: Runtime): BlockableTimers {
  const pending = new Set<Due>();
  const setTimeout = (callback: () => void, delayMs: number): Timer => {
    const run = (): void => {
      if (!pending.delete(due)) return;
      timer.clear();
      callback();
    };
    const due = { atMs: runtime.now() + delayMs, run };
    const timer = runtime.setTimeout(run, delayMs);
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
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(runtime)) as Runtime;
  return {
    runtime: Object.defineProperty(copy, "setTimeout", { value: setTimeout }),
    runDue: (nowMs) => {
      for (const { atMs, run } of pending) if (atMs <= nowMs) run();
    },
  };
}
