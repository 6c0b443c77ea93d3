import { RangeError } from "../../builtins.ts";

/** Start of the RangeError message of V8 and JavaScriptCore. */
const STACK_OVERFLOW = "Maximum call stack size exceeded";
/** SpiderMonkey (Firefox) has a class for it. */
const { InternalError } = globalThis as { readonly InternalError?: ErrorConstructor };
const TOO_MUCH_RECURSION = "too much recursion";

export function isStackOverflow(error: unknown): boolean {
  // Not by a pattern, since matching one needs stack space too.
  if (error instanceof RangeError) return error.message.startsWith(STACK_OVERFLOW);
  return InternalError !== undefined && error instanceof InternalError &&
    error.message.startsWith(TOO_MUCH_RECURSION);
}
