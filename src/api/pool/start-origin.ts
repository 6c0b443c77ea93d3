/** The errors of a pool's start begin where the pool was created, instead of in the handler of a message. */
import { TaskNotFoundError, WorkerStartError } from "../../errors.ts";
import { framesOf } from "../../realm/caller-stack.ts";

/**
 * `error` as one with the stack of `origin`, an error that was made where the pool was created: runtimes take the excerpt of the
 * source from there. `error` itself if that has no stack. `origin` becomes the error; it references what is on its stack, so only
 * the handle of a pool may keep it.
 */
export function placeAt(origin: Error, error: Error): Error {
  const { constructor, message, cause } = error as Error & { readonly cause?: unknown };
  const frames = framesOf(origin);
  if ((constructor !== WorkerStartError && constructor !== TaskNotFoundError) || frames === "") {
    return error;
  }
  const placed = Object.setPrototypeOf(origin, constructor.prototype) as Error;
  const hidden = { configurable: true, writable: true };
  Object.defineProperty(placed, "message", { value: message, ...hidden });
  if (cause !== undefined) Object.defineProperty(placed, "cause", { value: cause, ...hidden });
  placed.stack = `${placed.name}: ${message}\n${frames}`;
  return Object.assign(placed, { code: (error as WorkerStartError).code });
}
