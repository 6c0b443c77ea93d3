/** Calls whose argument the host checks before it is sent. */
import { Promise } from "../../builtins.ts";
import { isThenable } from "../../protocol/is-thenable.ts";
import type { HostTask } from "../tasks/pool-spec.ts";

type Check = NonNullable<HostTask["check"]>;

/** `call` with its argument checked, if there is a check. The call rejects if it is not valid. */
export function checked<Result>(
  call: (...args: unknown[]) => Result,
  check: Check | undefined,
): (...args: unknown[]) => Result {
  if (check === undefined) return call;
  return (value, ...rest) => call(checkedArgument(check, value), ...rest);
}

/** A valid argument, or a promise of it, which the call awaits. */
function checkedArgument(check: Check, value: unknown): unknown {
  let result: unknown;
  try {
    result = isThenable(value) ? Promise.resolve(value).then(check) : check(value);
    if (!isThenable(result)) return result;
  } catch (error) {
    result = Promise.reject(error);
  }
  // If the call is refused for another reason, nobody awaits it.
  (result as Promise<unknown>).catch(() => {});
  return result;
}
