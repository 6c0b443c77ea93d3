/** The error of the files that are read when they are first needed. Only what reads them has this class. */
import { ERROR_CLASS, errorsOfEntries, HeddleError } from "./heddle-error.ts";

/** A file of heddle that is read when it is first needed cannot be read, or belongs to another build. */
export class InstallationError extends HeddleError {
  /** Tells this class from the others. */
  declare readonly code: "HEDDLE_INSTALLATION";

  /** Creates the error. `options.cause` is why the file cannot be read. */
  constructor(message: string, options?: ErrorOptions) {
    super("HEDDLE_INSTALLATION", message, options);
  }
}

// As for the others: minifiers keep this text.
const { prototype } = InstallationError;
Object.defineProperty(prototype, "name", { value: "InstallationError", configurable: true });
Object.defineProperty(prototype, ERROR_CLASS, { value: "InstallationError" });
Object.assign(errorsOfEntries(), { InstallationError });
