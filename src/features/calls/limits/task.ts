/** Time limits of tasks, as `task()` declares them, and of calls: `timeoutMs`, `signal` and the like. */
import type { NewCallOptions } from "../../../api/options/feature.ts";
import type { TaskFeature } from "../../../api/tasks/feature.ts";
import { checkMs, checkSignal } from "../../../option-checks.ts";
import { anySignal } from "./host/any-signal.ts";

export const limitOptions: NewCallOptions = {
  runTimeoutMs: { check: (value, to) => to.runTimeoutMs = checkMs("runTimeoutMs", value) },
  stallMs: { check: (value, to) => to.stallMs = checkMs("stallMs", value) },
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

export const limits: TaskFeature = { name: "limits", callOptions: limitOptions };
