/** What a worker reports about itself (`metering/worker-gauges.ts`), as statistics show it. */
import {
  ASLEEP,
  BEFORE,
  BEFORE_SLEPT,
  gaugesOf,
  MARK,
  MARK_MS,
  MARK_SLEPT,
  MEMORY,
  SLEPT,
} from "../../../../metering/worker-gauges.ts";

export interface WorkerGauges {
  /** Share of the time without sleep, from 0 to 1: of the last second or somewhat more, and since `fromMs`. */
  readonly recent: number;
  readonly total: number;
  /** Bytes; undefined: not measured. */
  readonly memoryBytes: number | undefined;
}

/**
 * `fromMs`: when the worker was ready. `idleFromMs`: of an idle worker that does not share `lane`, whose last message was sent before
 * it went to sleep.
 */
export function readGauges(
  lane: SharedArrayBuffer,
  fromMs: number,
  nowMs: number,
  idleFromMs?: number,
): WorkerGauges {
  const gauges = gaugesOf(lane);
  const asleepMs = idleFromMs ?? gauges[ASLEEP]!;
  const slept = gauges[SLEPT]! + (asleepMs > 0 ? Math.max(0, nowMs - asleepMs) : 0);
  const since = (time: number, sleptBefore: number): number => {
    const elapsed = nowMs - time;
    return elapsed <= 0 ? 0 : 1 - Math.min(1, Math.max(0, (slept - sleptBefore) / elapsed));
  };
  // Asleep, or awake, for the whole window: the marks are older than that.
  const isSteady = asleepMs !== 0 && nowMs - Math.abs(asleepMs) >= MARK_MS;
  const isOld = nowMs - gauges[MARK]! >= MARK_MS;
  const time = isOld ? gauges[MARK]! : gauges[BEFORE]!;
  const sleptBefore = isOld ? gauges[MARK_SLEPT]! : gauges[BEFORE_SLEPT]!;
  return {
    recent: isSteady
      ? asleepMs > 0 ? 0 : 1
      : time > fromMs
      ? since(time, sleptBefore)
      : since(fromMs, 0),
    total: since(fromMs, 0),
    memoryBytes: gauges[MEMORY]! > 0 ? gauges[MEMORY]! : undefined,
  };
}
