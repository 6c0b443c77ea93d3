/** Options of calls that end them early: `timeoutMs`, `signal` and the like. */
import { checkMs, checkSignal } from "../../../../option-checks.ts";
import { anySignal } from "./any-signal.ts";
import type { NewCallOptions } from "../../../../api/options/feature.ts";

export const limitOptions: NewCallOptions = {
  runTimeoutMs: { check: (value, to) => to.runTimeoutMs = checkMs("runTimeoutMs", value) },
  timeoutMs: { check: (value, to) => to.timeoutMs = checkMs("timeoutMs", value) },
  timeoutValue: { check: (value, to) => to.timeoutValue = value },
  killAfterMs: { check: (value, to) => to.killAfterMs = checkMs("killAfterMs", value, 0) },
  signal: {
    only: "with",
    check: (value, to) => {
      if (value !== null) to.signal = checkSignal(value);
    },
    merge: anySignal,
  },
};
