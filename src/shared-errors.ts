/** The errors of `heddle/shared`, each with a literal `code`. `errors.ts` has the others. Loaded by `heddle/shared` alone, which makes them known to the codec. */
import { ERROR_CLASS, errorsOfEntries, HeddleError } from "./heddle-error.ts";

/** The thread that held a lock died before it gave it back, perhaps in the middle of a change of what the lock protects. */
export class PoisonedError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_POISONED";

  /** Creates the error. */
  constructor(message: string) {
    super("HEDDLE_POISONED", message);
  }
}

/** There is no room for a value within `maxBytes` or `maxEntries`. Nothing was changed. */
export class SharedMemoryFullError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_SHARED_FULL";

  /** Creates the error. */
  constructor(message: string) {
    super("HEDDLE_SHARED_FULL", message);
  }
}

/** The other side of a channel has closed its ends, or this handle was closed. */
export class ChannelClosedError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_CHANNEL_CLOSED";

  /** Creates the error. `cause`: the reason that was given to `close`. */
  constructor(message: string, options?: ErrorOptions) {
    super("HEDDLE_CHANNEL_CLOSED", message, options);
  }
}

/** A wait for shared data took longer than its `timeoutMs`. */
export class WaitTimeoutError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_WAIT_TIMEOUT";
  /** The limit, in milliseconds. */
  readonly limitMs: number;

  /** Creates the error. `what` names what was waited for. */
  constructor(what: string, limitMs: number) {
    super("HEDDLE_WAIT_TIMEOUT", `${what} took longer than its timeoutMs of ${limitMs} ms.`);
    this.limitMs = limitMs;
  }
}

/** This thread may not do that with shared data: it may not block, or has no part in the data of the other threads. */
export class SharedAccessError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_SHARED_ACCESS";

  /** Creates the error. */
  constructor(message: string) {
    super("HEDDLE_SHARED_ACCESS", message);
  }
}

/** All of them, by name. */
export const sharedErrorClasses: Readonly<Record<string, { readonly prototype: HeddleError }>> = {
  PoisonedError,
  SharedMemoryFullError,
  ChannelClosedError,
  WaitTimeoutError,
  SharedAccessError,
};

// As for the others: minifiers keep these keys.
for (const [name, { prototype }] of Object.entries(sharedErrorClasses)) {
  Object.defineProperty(prototype, "name", { value: name, configurable: true });
  Object.defineProperty(prototype, ERROR_CLASS, { value: name });
}
Object.assign(errorsOfEntries(), sharedErrorClasses);

/** The same for types. */
export type AnySharedError =
  | PoisonedError
  | SharedMemoryFullError
  | ChannelClosedError
  | WaitTimeoutError
  | SharedAccessError;
