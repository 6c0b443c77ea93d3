/** Errors as Piscina words them. They have no codes there. */
import { InvalidArgumentError, isHeddleError } from "heddle";

/** The task was aborted, or its pool closed before it began. */
export class AbortError extends Error {
  constructor(reason?: unknown) {
    super("The task has been aborted", { cause: reason });
  }

  override get name(): string {
    return "AbortError";
  }
}

export const threadTermination = (): Error => new Error("Terminating worker thread");
export const filenameNotProvided = (): Error =>
  new Error("filename must be provided to run() or in options object");
export const queueAtLimit = (): Error => new Error("Task queue is at limit");
export const noQueue = (): Error => new Error("No task queue available and all Workers are busy");
export const closeTimeout = (): Error => new Error("Close operation timed out");
/** Errors of heddle about values, as the runtime's `postMessage` throws them. */
export function translated(error: unknown): unknown {
  if (!isHeddleError(error)) return error;
  const isOfValue = error instanceof InvalidArgumentError &&
    /transfer|^worker\.data cannot/.test(error.message);
  if (!isOfValue && error.code !== "HEDDLE_DATA_CLONE") return error;
  const message = error.message.replace(/^args\[\d+\]/, "the task")
    .replace(/^worker\.data/, "workerData");
  return new DOMException(message, "DataCloneError");
}

export const workerExited = (code: number | undefined): Error =>
  new Error(`worker exited with code: ${code}`);
