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

/** A task called a task of its pool when its own call had been given up, or its worker ended while such a call ran. */
export class CallEndedError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_CALL_ENDED";

  /** Creates the error. */
  constructor() {
    super("HEDDLE_CALL_ENDED", "The call that made this call of a task is over.");
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

/** A stream was read that belongs to a call that is over. */
export class StreamClosedError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_STREAM_CLOSED";

  /** Creates the error. */
  constructor() {
    super("HEDDLE_STREAM_CLOSED", "The call to which this stream belongs is over.");
  }
}

/** An object that lives in a worker was called when it was gone. */
export class ObjectLostError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_OBJECT_LOST";

  /** Creates the error. */
  constructor(message: string, options?: ErrorOptions) {
    super("HEDDLE_OBJECT_LOST", message, options);
  }
}
