/** The codes of errors tell the classes apart. Checked by the compiler, never run. */
import {
  type HeddleError,
  type HeddleErrorCode,
  isHeddleError,
  QueueFullError,
  type TimeoutError,
} from "../../src/mod.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true
  : false;
function assert<_T extends true>(): void {}

assert<Equal<HeddleError["code"], HeddleErrorCode>>();
assert<Equal<TimeoutError["code"], "HEDDLE_TIMEOUT">>();

export function caught(error: unknown): number | undefined {
  if (!isHeddleError(error)) throw error;
  switch (error.code) {
    case "HEDDLE_TIMEOUT":
      return error.limitMs;
    case "HEDDLE_PAYLOAD_TOO_LARGE":
      return error.maxBytes;
    case "HEDDLE_WORKER_LOST":
      return error.workerId;
    // @ts-expect-error no such code
    case "HEDDLE_TIMED_OUT":
      return undefined;
    default:
      return error instanceof QueueFullError ? 0 : undefined;
  }
}
