/** Why a worker cannot start. */
import { TaskNotFoundError, WorkerStartError } from "../../errors.ts";
import type { StartFailure } from "../../protocol/start-data.ts";
import { SERVED_URL } from "../../realm/served-modules.ts";

/** The error of a worker that is not ready in time. One that the program has started (in browsers) may not be heddle's. */
export function lateStart(limitMs: number, taskModule: string | undefined): WorkerStartError {
  const hint = taskModule === SERVED_URL
    ? " Its script may not call serve(tasks) of heddle/browser/worker."
    : "";
  return new WorkerStartError(`The worker was not ready within ${limitMs} ms.${hint}`);
}

/** The error of a worker that ended for this reason before it was ready. `stderr`: the last that its process wrote. */
export function endedEarly(
  reason: string,
  cause: unknown,
  exitCode: number | undefined,
  stderr: string | undefined,
): WorkerStartError {
  const code = exitCode === undefined || exitCode === 0 ? "" : ` (exit code ${exitCode})`;
  const wrote = stderr === undefined ? "" : `; the last that it wrote: ${stderr}`;
  return new WorkerStartError(`The worker ended while starting: ${reason}${code}${wrote}.`, {
    cause,
  });
}

/** The error of a worker that reports why it cannot start. `setup` is the URL of its setup module. */
export function startErrorOf(
  { part, module, place }: StartFailure,
  cause: Error,
  setup: string | undefined,
): Error {
  if (part === "export") return new TaskNotFoundError(cause.message);
  const what = part === "setup"
    ? `The setup module ${setup} failed`
    : `${module === undefined ? "A task module" : `The module ${module}`} failed to load`;
  const where = place === undefined || cause.message.includes(place) ? "" : `${place}: `;
  return new WorkerStartError(`${what}: ${where}${cause.message}`, { cause });
}
