/** Options of `pool.scope`: types and checks. */
import { describeValue } from "../../codec/support/describe.ts";
import { InvalidArgumentError } from "../../errors.ts";
import { checkSignal } from "./call-options.ts";
import { checkKeys, checkMs, invalid, isRecord, ownOf } from "./checks.ts";

/** Options of {@link Pool.scope}. */
export interface ScopeOptions {
  /**
   * Maximum time from the start of the scope until it has been left, in milliseconds. Then its calls are cancelled with a
   * TimeoutError of kind "scope", which leaving throws.
   *
   * @default none
   */
  readonly timeoutMs?: number;
  /**
   * Cancels the calls of the scope, which reject with `signal.reason`. Leaving throws the reason. null: no signal.
   *
   * @default none
   */
  readonly signal?: AbortSignal | null;
  /**
   * Effect of the first error of a call. "cancel": the other calls are cancelled. "collect": they end by themselves, and leaving
   * throws an AggregateError of all errors.
   *
   * @default "cancel"
   */
  readonly onError?: "cancel" | "collect";
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
  readonly onError: "cancel" | "collect";
  readonly killAfterMs: number;
}

const SCOPE_OPTIONS: readonly string[] = ["timeoutMs", "signal", "onError", "killAfterMs"];
const KILL_AFTER_MS = 5000;

/** Checks the options of a scope. Throws InvalidArgumentError. `outer`: the scope that it is part of. */
export function checkScopeOptions(
  given: unknown,
  outer: ResolvedScopeOptions | undefined,
): ResolvedScopeOptions {
  if (!isRecord(given)) {
    throw new InvalidArgumentError(
      `scope() takes an object of options, got ${describeValue(given)}.`,
    );
  }
  checkKeys("scope()", given, SCOPE_OPTIONS);
  const { timeoutMs = Infinity, signal, onError = "cancel", killAfterMs } = ownOf<ScopeOptions>(
    given,
  );
  if (onError !== "cancel" && onError !== "collect") {
    throw invalid("onError", '"cancel" or "collect"', describeValue(onError));
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
