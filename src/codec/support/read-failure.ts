/** What went wrong while a value was read. */
import { RangeError } from "../../builtins.ts";
import { DataCloneError, HeddleError, PayloadTooLargeError, ProtocolError } from "../../errors.ts";
import { isStackOverflow } from "./stack-overflow.ts";

/** Converts any exception to a coded error: nesting too deep for this thread's stack, or damage. */
export function readFailure(error: unknown, bytes: number): unknown {
  if (error instanceof HeddleError) return error;
  if (isStackOverflow(error)) {
    return new DataCloneError("The value is nested too deeply for the receiving thread's stack.", {
      cause: error,
    });
  }
  // Lengths are checked before any allocation, so an allocation that fails lacks memory.
  if (error instanceof RangeError) {
    return new PayloadTooLargeError(bytes, undefined, { cause: error });
  }
  return new ProtocolError("An encoded value is corrupt.", { cause: error });
}
