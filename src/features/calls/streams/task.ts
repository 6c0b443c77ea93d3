/** Options of calls and tasks that send more than a result. */
import type { NewCallOptions } from "../../../api/options/feature.ts";
import type { TaskFeature } from "../../../api/tasks/feature.ts";
import { describeValue } from "../../../codec/support/describe.ts";
import { invalid } from "../../../option-checks.ts";

const MAX_HIGH_WATER_MARK = 2 ** 20;

export const streamOptions: NewCallOptions = {
  highWaterMark: {
    only: "task",
    check: (value) => { // the worker reads it of the task
      if (
        Number.isInteger(value) && value as number >= 1 && value as number <= MAX_HIGH_WATER_MARK
      ) {
        return;
      }
      const rule = `an integer from 1 to ${MAX_HIGH_WATER_MARK}`;
      throw invalid("highWaterMark", rule, describeValue(value));
    },
  },
  onEvent: {
    only: "with",
    check: (value, to) => {
      if (typeof value !== "function") throw invalid("onEvent", "a function", describeValue(value));
      to.onEvent = value as (event: unknown) => void;
    },
  },
};

export const streams: TaskFeature = { name: "streams", callOptions: streamOptions };
