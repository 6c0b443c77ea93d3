/** The errors of what tasks ask of their host and of other tasks, each with a literal `code`. `errors.ts` exports them. */
import { HeddleError } from "./heddle-error.ts";

/** The host has no function of that name for its workers (option `host`). */
export class UnknownFunctionError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_UNKNOWN_FUNCTION";

  /** `hint` ends the first sentence, perhaps with the nearest known name. */
  constructor(name: string, known: readonly string[], hint = ".") {
    super(
      "HEDDLE_UNKNOWN_FUNCTION",
      `The host has no function "${name}"${hint} createPool({ host: { functions } }) has: ` +
        `${known.join(", ") || "none"}.`,
    );
  }
}

/** A task called a callback of its arguments after its call had ended. */
export class CallbackEndedError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_CALLBACK_ENDED";

  /** Creates the error. */
  constructor() {
    super("HEDDLE_CALLBACK_ENDED", "The call to which this callback belongs is over.");
  }
}

/** A thread would wait for itself, for ever. */
export class DeadlockError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_DEADLOCK";

  /** Creates the error. */
  constructor(message: string) {
    super("HEDDLE_DEADLOCK", message);
  }
}
