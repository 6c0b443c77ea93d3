/** The error for a value outside the structured-clone set. */
import { DataCloneError } from "../../errors.ts";

export const NO_FUNCTIONS: string =
  "functions cannot be cloned. Pass data, and export the function as a task; for progress: emit(), onEvent; to be called " +
  "back: callback()";
/** No feature knows the kind of the value. */
export const NO_FEATURE: string =
  "no feature of its pool sends values of this kind. Of heddle/features, values() sends class instances, RegExp, transfer(), " +
  "borrow() and shared objects, streams() iterables and streams, requests() callback()";

/** In a process of its own nothing is shared, and nothing moves to it. */
export const COPIES_ONLY =
  "a worker that is a process gets copies of data, and this cannot be copied";

export function refusal(path: string, reason: string, options?: ErrorOptions): DataCloneError {
  return new DataCloneError(
    `${path} cannot be cloned: ${reason.endsWith(".") ? reason.slice(0, -1) : reason}.`,
    options,
  );
}
