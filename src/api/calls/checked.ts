/** Calls whose argument the host checks before it is sent. */
import { Promise } from "../../builtins.ts";
import { isThenable } from "../../protocol/is-thenable.ts";
import type { HostTask } from "../tasks/pool-spec.ts";

/** Arguments with a valid first one, or a promise of it, which the call awaits: it rejects if that is not valid. */
export function checkedArguments(
  check: NonNullable<HostTask["check"]>,
  [value, ...rest]: readonly unknown[],
): unknown[] {
  let result: unknown;
  try {
    result = isThenable(value) ? Promise.resolve(value).then(check) : check(value);
  } catch (error) {
    result = Promise.reject(error);
  }
  // If the call is refused for another reason, nobody awaits it.
  if (isThenable(result)) (result as Promise<unknown>).catch?.(() => {});
  return [result, ...rest];
}
