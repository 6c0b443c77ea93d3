/** The tasks of the local pool, found by the names that callers send. */
import { didYouMean } from "../../api/options/checks.ts";
import { UnknownTaskError } from "../../errors.ts";

/** A function of a pool's `call`. */
type LocalCall = ((...args: unknown[]) => unknown) & { with(options: object): LocalCall };
export type LocalCalls = Readonly<Record<string, LocalCall>>;

/** The task of this name. Throws UnknownTaskError. */
export function localCall(calls: LocalCalls, name: string): LocalCall {
  if (Object.hasOwn(calls, name)) return calls[name]!;
  const known = Object.keys(calls);
  throw new UnknownTaskError(name, known, didYouMean(name, known));
}
