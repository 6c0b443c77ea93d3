/** The tasks of the local pool, found by the names that callers send, and the options of their calls. */
import { AbortController } from "../../builtins.ts";
import { didYouMean } from "../../option-checks.ts";
import { UnknownTaskError } from "../../errors.ts";
import type { Running } from "./running.ts";

/** A function of a pool's `call`. */
type LocalCall = ((...args: unknown[]) => unknown) & { with(options: object): LocalCall };
export type LocalCalls = Readonly<Record<string, LocalCall>>;

/** The task of this name. Throws UnknownTaskError. */
export function localCall(calls: LocalCalls, name: string): LocalCall {
  if (Object.hasOwn(calls, name)) return calls[name]!;
  const known = Object.keys(calls);
  throw new UnknownTaskError(name, known, didYouMean(name, known));
}

/**
 * Options for a local call; undefined: none. Values of a hostile caller are refused by `with` itself. `remainingMs`: until the
 * deadline; 0: there is none.
 */
export function optionsOf(
  running: Running,
  given: unknown,
  remainingMs: number,
  onEvent: (value: unknown) => void,
): object | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const { hasListener, isAbortable, runTimeoutMs, stallMs, priority, retries, killAfterMs } =
    given as Record<string, unknown>;
  if (isAbortable === true) running.controller = new AbortController();
  return {
    ...(runTimeoutMs !== undefined && { runTimeoutMs }),
    ...(stallMs !== undefined && { stallMs }),
    ...(priority !== undefined && { priority }),
    ...(retries !== undefined && { retries }),
    ...(killAfterMs !== undefined && { killAfterMs }),
    ...(remainingMs > 0 && { timeoutMs: remainingMs }),
    ...(running.controller !== undefined && { signal: running.controller.signal }),
    ...(hasListener === true && { onEvent }),
  };
}
