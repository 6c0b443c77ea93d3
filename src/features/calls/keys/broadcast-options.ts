/** Options of `pool.broadcast.f.with`: checks. */
import { describeValue } from "../../../codec/support/describe.ts";
import { InvalidArgumentError } from "../../../errors.ts";
import type { GivenSettings } from "../../../host/calls/call-settings.ts";
import { invalid, isRecord } from "../../../option-checks.ts";
import type { BroadcastOptions } from "../../../api/options/call-option-types.ts";
import { checkCallOptions } from "../../../api/options/call-options.ts";

/** Checks the options of a broadcast's `with`. Throws InvalidArgumentError. */
export function checkBroadcastOptions(
  options: unknown,
): { readonly given: GivenSettings; readonly isSticky: boolean | undefined } {
  const { sticky, ...given } = Object(options) as BroadcastOptions;
  for (const key of ["transfer", "affinity", "onEvent"]) {
    if (key in given) {
      throw new InvalidArgumentError(`A broadcast has no option "${key}": it calls every worker.`);
    }
  }
  if (sticky !== undefined && typeof sticky !== "boolean") {
    throw invalid("sticky", "a boolean", describeValue(sticky));
  }
  return { given: checkCallOptions(isRecord(options) ? given : options), isSticky: sticky };
}
