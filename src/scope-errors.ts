/** The errors of scopes and profiles. `errors.ts` exports them. */
import { HeddleError } from "./heddle-error.ts";

/** The scope is closed, or is being left: it takes no further calls. The call did not run. */
export class ScopeClosedError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_SCOPE_CLOSED";

  /** Creates the error. */
  constructor() {
    super("HEDDLE_SCOPE_CLOSED", "The scope is closed: it takes no further calls.");
  }
}

/**
 * The call was cancelled with its scope, or because another call made its result unnecessary. `cause`: the error that was the reason,
 * if there is one.
 */
export class ScopeCancelledError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_SCOPE_CANCELLED";

  /** Creates the error. */
  constructor(message = "The scope was cancelled.", options?: ErrorOptions) {
    super("HEDDLE_SCOPE_CANCELLED", message, options);
  }
}

/** A worker cannot be profiled: the message says why. */
export class ProfileUnavailableError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_PROFILE_UNAVAILABLE";

  /** Creates the error. */
  constructor(workerId: number, reason: string, options?: ErrorOptions) {
    super(
      "HEDDLE_PROFILE_UNAVAILABLE",
      `Worker ${workerId} cannot be profiled: ${reason}.`,
      options,
    );
  }
}
