/** Options of `pool.scope`: types and checks. */
import { describeValue } from "../../../codec/support/describe.ts";
import { InvalidArgumentError } from "../../../errors.ts";
import {
  checkKeys,
  checkMs,
  checkSignal,
  invalid,
  isRecord,
  ownOf,
} from "../../../option-checks.ts";

type OnError = "cancel" | "collect" | "ignoreHandled";

/** Options of {@link Pool.scope}. */
export interface ScopeOptions {
  /**
   * Maximum time from the start of the scope until it has been left, in milliseconds. Then its calls are cancelled with a
   * TimeoutError of kind "scope", which leaving throws.
   *
   * @default Infinity, no limit
   */
  readonly timeoutMs?: number;
  /**
   * Cancels the calls of the scope, which reject with `signal.reason`. Leaving throws the reason. null: no signal.
   *
   * @default none
   */
  readonly signal?: AbortSignal | null;
  /**
   * Effect of an error of a call. "cancel": the first one cancels the other calls, and leaving throws it. "ignoreHandled": the same,
   * but an error that the program handles is not the scope's. "collect": the other calls end by themselves, and leaving throws an
   * AggregateError of all errors.
   *
   * @default "ignoreHandled" for a function, whose own error cancels the calls; "cancel" for a block
   */
  readonly onError?: OnError;
  /**
   * Time from the cancellation of a call until the worker of a task that continues is stopped, in milliseconds: leaving waits at
   * most about as long. For calls whose task or `with` does not set it. `Infinity`: leaving waits until the task ends.
   *
   * @default 5000
   */
  readonly killAfterMs?: number;
}

/** The same, checked. */
export interface ResolvedScopeOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly onError: OnError;
  readonly killAfterMs: number;
}

const SCOPE_OPTIONS: readonly string[] = ["timeoutMs", "signal", "onError", "killAfterMs"];
const KILL_AFTER_MS = 5000;

/**
 * Checks the options of a scope. Throws InvalidArgumentError. `isFunction`: it sees the errors that its code throws. `outer`: the
 * scope that it is part of.
 */
export function checkScopeOptions(
  given: unknown,
  isFunction: boolean,
  outer: ResolvedScopeOptions | undefined,
): ResolvedScopeOptions {
  if (!isRecord(given)) {
    throw new InvalidArgumentError(
      `scope() takes an object of options, got ${describeValue(given)}.`,
    );
  }
  checkKeys("scope()", given, SCOPE_OPTIONS);
  const own = ownOf<ScopeOptions>(given);
  const { timeoutMs = Infinity, signal, killAfterMs } = own;
  const { onError = isFunction ? "ignoreHandled" : "cancel" } = own;
  if (onError !== "cancel" && onError !== "collect" && onError !== "ignoreHandled") {
    throw invalid("onError", '"cancel", "ignoreHandled" or "collect"', describeValue(onError));
  }
  return {
    timeoutMs: checkMs("timeoutMs", timeoutMs),
    signal: signal === undefined || signal === null ? undefined : checkSignal(signal),
    onError,
    killAfterMs: killAfterMs === undefined
      ? outer?.killAfterMs ?? KILL_AFTER_MS
      : checkMs("killAfterMs", killAfterMs, 0),
  };
}
