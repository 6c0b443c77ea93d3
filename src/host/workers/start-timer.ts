/**
 * Limits the time in which a worker has to become ready. It is counted in parts, and each part at most once: time in which the
 * machine is suspended, or the host does something else for long, is not the worker's.
 */
import { MAX_TIMER_MS, type Runtime, type Timer } from "../../runtimes/runtime.ts";

/** Extra time, in which a host that was busy can receive the ready message, which may be queued. */
const GRACE_MS = 100;
const PARTS = 8;

export interface StartLimit {
  /** Undefined: there is no limit. */
  timer: Timer | undefined;
}

/** Calls `onLate` after `timeoutMs`, unless the timer is cleared. */
export function limitStart(
  runtime: Pick<Runtime, "setTimeout" | "now">,
  timeoutMs: number,
  onLate: () => void,
  leftMs: number = timeoutMs,
  limit: StartLimit = { timer: undefined },
): StartLimit {
  if (timeoutMs > MAX_TIMER_MS) return limit;
  const { setTimeout, now } = runtime;
  const sinceMs = now();
  const partMs = Math.min(timeoutMs / PARTS, leftMs);
  limit.timer = setTimeout(() => {
    // Less, if a page was frozen meanwhile, which its clock does not count.
    const stillMs = leftMs - Math.min(now() - sinceMs, partMs);
    if (stillMs > 1) limitStart(runtime, timeoutMs, onLate, stillMs, limit);
    else {
      limit.timer = setTimeout(onLate, GRACE_MS);
      limit.timer.unref();
    }
  }, partMs);
  limit.timer.unref(); // a starting worker keeps the process running by itself
  return limit;
}
