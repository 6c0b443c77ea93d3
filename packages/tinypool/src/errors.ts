/** Errors as Tinypool words them. */

/** The signal of a task was aborted. */
export class AbortError extends Error {
  constructor() {
    super("The task has been aborted");
  }

  override get name(): string {
    return "AbortError";
  }
}

/** `cancelPendingTasks()` took the task out of the queue. */
export class CancelError extends Error {
  constructor() {
    super("The task has been cancelled");
  }

  override get name(): string {
    return "CancelError";
  }
}

export const threadTermination = (): Error => new Error("Terminating worker thread");
export const failedToTerminate = (): Error => new Error("Failed to terminate worker");
/** `cause`: what heddle knows of its end, such as the exit code and the signal. */
export const exitedUnexpectedly = (cause: unknown): Error =>
  new Error("Worker exited unexpectedly", { cause });
export const filenameNotProvided = (): Error =>
  new Error("filename must be provided to run() or in options object");
export const queueAtLimit = (): Error => new Error("Task queue is at limit");
export const noQueue = (): Error => new Error("No task queue available and all Workers are busy");

/** The code of an error of heddle. */
export function codeOf(error: unknown): string | undefined {
  const { code } = Object(error) as { readonly code?: unknown };
  return typeof code === "string" && code.startsWith("HEDDLE_") ? code : undefined;
}

/** Errors of heddle about values, as `postMessage` throws them. */
export function translated(error: unknown): unknown {
  const code = codeOf(error);
  if (code === undefined) return error;
  const { message } = error as Error;
  const isOfValue = code === "HEDDLE_DATA_CLONE" ||
    (code === "HEDDLE_INVALID_ARGUMENT" && /transfer|worker\.data/.test(message));
  if (!isOfValue) return error;
  return new DOMException(message.replace(/^args\[\d+\]/, "the task"), "DataCloneError");
}
