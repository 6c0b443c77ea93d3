/** Options of calls whose tasks send more than a result. */
import { describeValue } from "../../../../codec/support/describe.ts";
import { invalid } from "../../../../option-checks.ts";
import type { NewCallOptions } from "../../../../api/options/feature.ts";

const MAX_HIGH_WATER_MARK = 2 ** 20;

export const streamOptions: NewCallOptions = {
  highWaterMark: { only: "task", check: checkHighWaterMark }, // the worker reads it of the task
  onEvent: { only: "with", check: (value, to) => to.onEvent = checkListener(value) },
};

function checkHighWaterMark(highWaterMark: unknown): void {
  const isCount = typeof highWaterMark === "number" && Number.isInteger(highWaterMark);
  if (isCount && highWaterMark >= 1 && highWaterMark <= MAX_HIGH_WATER_MARK) return;
  const rule = `an integer from 1 to ${MAX_HIGH_WATER_MARK}`;
  throw invalid("highWaterMark", rule, describeValue(highWaterMark));
}

function checkListener(onEvent: unknown): (value: unknown) => void {
  if (typeof onEvent === "function") return onEvent as (value: unknown) => void;
  throw invalid("onEvent", "a function", describeValue(onEvent));
}
