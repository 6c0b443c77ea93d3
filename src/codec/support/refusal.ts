/** The error for a value outside the structured-clone set. */
import { DataCloneError } from "../../errors.ts";

export function refusal(path: string, reason: string, options?: ErrorOptions): DataCloneError {
  return new DataCloneError(
    `${path} cannot be cloned: ${reason.endsWith(".") ? reason.slice(0, -1) : reason}.`,
    options,
  );
}
