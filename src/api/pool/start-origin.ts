/** Where a pool was created: its errors of the start begin there, instead of in the handler of a message. */
import { TaskNotFoundError, WorkerStartError } from "../../errors.ts";
import { createAbove, framesOf } from "../../realm/caller-stack.ts";

/** References what is on the stack, so only the handle of a pool may keep it. */
export class StartOrigin {
  /** Made now, since runtimes take the excerpt of the source from the place where an error is made. */
  readonly #errors: readonly (Error & { cause?: unknown })[];

  /** `callee`: the running function that the user has called. */
  constructor(callee: (...args: never[]) => unknown) {
    this.#errors = [
      createAbove(WorkerStartError, callee),
      createAbove(TaskNotFoundError, callee),
    ];
  }

  /** The same error with the stack of this place, or `error` if there is none. */
  place(error: Error): Error {
    const placed = this.#errors.find(({ constructor }) => constructor === error.constructor);
    const frames = placed === undefined ? "" : framesOf(placed);
    if (placed === undefined || frames === "") return error;
    const { message, cause } = error as typeof placed;
    const hidden = { configurable: true, writable: true };
    Object.defineProperty(placed, "message", { value: message, ...hidden });
    if (cause !== undefined) Object.defineProperty(placed, "cause", { value: cause, ...hidden });
    placed.stack = `${placed.name}: ${message}\n${frames}`;
    return placed;
  }
}
