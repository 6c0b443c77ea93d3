/** Options of calls that end them early: `timeoutMs`, `signal` and the like. */
import { checkMs, checkSignal } from "../../../../option-checks.ts";
import { anySignal } from "./any-signal.ts";
import type { OptionFeature } from "../../../../api/options/feature.ts";

export const limitOptions: NonNullable<OptionFeature["callOptions"]> = {
  runTimeoutMs: { check: (value, to) => to.runTimeoutMs = checkMs("runTimeoutMs", value) },
  timeoutMs: { check: (value, to) => to.timeoutMs = checkMs("timeoutMs", value) },
  timeoutValue: { check: (value, to) => to.timeoutValue = value },
  killAfterMs: { check: (value, to) => to.killAfterMs = checkMs("killAfterMs", value, 0) },
  signal: {
    check: (value, to) => {
      if (value !== null) to.signal = checkSignal(value);
    },
    merge: anySignal,
  },
};
