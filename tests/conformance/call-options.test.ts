/** Options of calls that are refused. */
import { expect, test } from "vitest";
import { createLimitedPool } from "../fixtures/limited.ts";
import { closedAfterTest } from "../support/conformance.ts";

function limitedPool(
  options: Parameters<typeof createLimitedPool>[0] = {},
): ReturnType<typeof createLimitedPool> {
  return closedAfterTest(createLimitedPool(options));
}

test("invalid call options are refused by name", () => {
  const { call } = limitedPool();
  const cases: readonly [object, RegExp][] = [
    [{ runTimeoutMs: -1 }, /runTimeoutMs must be a number of milliseconds above 0.*got -1/],
    [{ runTimeoutMs: "1s" }, /runTimeoutMs must be/],
    [{ runTimeoutMs: { time: 1 } }, /runTimeoutMs must be/],
    [{ timeout: 1 }, /no option "timeout"/],
    [{ timeoutMs: NaN }, /timeoutMs must be/],
    [{ killAfterMs: -5 }, /killAfterMs must be a number of milliseconds from 0/],
    [{ signal: {} }, /signal must be an AbortSignal/],
    [{ retries: 1.5 }, /retries must be an integer from 0 to 1000, got 1.5/],
    [{ retrys: 1 }, /no option "retrys"; did you mean "retries"\?/],
    [{ timeout: 1 }, /no option "timeout"; did you mean "timeoutMs"\?/],
    [{ key: "a" }, /no option "key"\. It takes: .*affinity/],
  ];
  for (const [options, message] of cases) expect(() => call.echo.with(options)).toThrow(message);
  expect(() => createLimitedPool({ hardTimeoutMs: 0 })).toThrow(/hardTimeoutMs must be/);
});
