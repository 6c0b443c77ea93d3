/** What `pool.shutdown` may be told. */
import { describeValue } from "./codec/struct/mismatch.ts";
import { InvalidArgumentError } from "./errors.ts";

export interface ShutdownOptions {
  /** Whether calls in flight get time to finish. Default true; false is `timeoutMs: 0`. */
  readonly drain?: boolean;
  /** How long, in milliseconds; `Infinity`: until the last has. Default 5000. */
  readonly timeoutMs?: number;
}

/** The time that calls in flight get. Throws InvalidArgumentError. */
export function checkShutdown(options: unknown, defaultMs: number): number {
  if (typeof options !== "object" || options === null) return checkMs(options);
  for (const key of Object.keys(options)) {
    if (key !== "drain" && key !== "timeoutMs") {
      throw new InvalidArgumentError(
        `shutdown() has no option "${key}"; it takes: drain, timeoutMs.`,
      );
    }
  }
  const { drain = true, timeoutMs = defaultMs } = {
    __proto__: null,
    ...options,
  } as ShutdownOptions;
  if (typeof drain !== "boolean") {
    throw new InvalidArgumentError(`drain must be a boolean, got ${describeValue(drain)}.`);
  }
  const checked = checkMs(timeoutMs);
  return drain ? checked : 0;
}

function checkMs(timeoutMs: unknown): number {
  if (typeof timeoutMs === "number" && timeoutMs >= 0) return timeoutMs;
  throw new InvalidArgumentError(
    `timeoutMs must be a number from 0, got ${describeValue(timeoutMs)}.`,
  );
}
