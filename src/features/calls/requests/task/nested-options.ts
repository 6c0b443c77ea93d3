/** The options of nested calls: those of calls that make sense in a worker. */
import { describeValue } from "../../../../codec/support/describe.ts";
import { InvalidArgumentError } from "../../../../errors.ts";
import { anySignal } from "../../limits/host/any-signal.ts";
import type { CallOptions } from "../../../../api/options/call-option-types.ts";
import { settingsOf } from "../../../../api/options/call-options.ts";
import { limitOptions } from "../../limits/task.ts";
import { checkKeys, isRecord } from "../../../../option-checks.ts";

/** Options of the calls made through `currentPool().call.f.with`. They override those of the task. */
export type NestedOptions = Pick<
  CallOptions,
  "priority" | "runTimeoutMs" | "stallMs" | "timeoutMs" | "retries" | "killAfterMs" | "signal"
>;

const NESTED_OPTIONS: readonly string[] = [
  "priority",
  "runTimeoutMs",
  "stallMs",
  "timeoutMs",
  "retries",
  "killAfterMs",
  "signal",
];

/** Options as they are sent, and the signal, which stays. */
export interface GivenNested {
  readonly settings: object | undefined;
  readonly signal: AbortSignal | undefined;
}

export const NO_NESTED: GivenNested = { settings: undefined, signal: undefined };

/** Adds further options. Signals add up. Throws InvalidArgumentError. */
export function withNested(earlier: GivenNested, options: unknown): GivenNested {
  if (!isRecord(options)) {
    throw new InvalidArgumentError(
      `with() takes an object of options, got ${describeValue(options)}.`,
    );
  }
  checkKeys("with()", options, NESTED_OPTIONS);
  const { signal, ...settings } = settingsOf(options, limitOptions);
  return {
    settings: { ...earlier.settings, ...settings },
    signal: earlier.signal === undefined ? signal : anySignal(earlier.signal, signal),
  };
}
