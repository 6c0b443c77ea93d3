/** The error for a value outside the structured-clone set. */
import { DataCloneError } from "../../errors.ts";

export function refusal(path: string, why: string, options?: ErrorOptions): DataCloneError {
  return new DataCloneError(
    `${path} cannot be cloned: ${why.endsWith(".") ? why.slice(0, -1) : why}.`,
    options,
  );
}
