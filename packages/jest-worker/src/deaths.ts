/** What a call gets whose worker has ended, and when it is made again. */

/** What heddle's own errors have; those of tasks arrive as a `Failure`. */
export interface PoolError extends Error {
  readonly code?: string;
  readonly exitCode?: number;
  readonly processId?: number;
  readonly signal?: string;
  readonly outOfMemory?: boolean;
}

/** Exit codes that say that a process was ended on purpose: 128 and the number of SIGKILL or SIGTERM. */
const STOPPED: readonly unknown[] = [128 + 9, 128 + 15];

/** The error of the call; undefined: it is made again. `crashes`: of its workers, this one included. */
export function errorOfDeath(
  death: PoolError,
  crashes: number,
  { isThread, maxRetries }: { readonly isThread: boolean; readonly maxRetries: number },
): Error | undefined {
  if (death.outOfMemory) return new Error("Jest worker ran out of memory and crashed");
  const { exitCode, signal } = death;
  const isCrash = exitCode !== 0 && signal === undefined &&
    (isThread || !STOPPED.includes(exitCode));
  if (!isCrash) return new Error(explain(death, isThread));
  if (crashes <= maxRetries) return undefined;
  const message = isThread
    ? "Call retries were exceeded"
    : `Jest worker encountered ${crashes} child process exceptions, exceeding retry limit`;
  return Object.assign(new Error(message), { type: "WorkerError" });
}

function explain({ exitCode, processId, signal }: PoolError, isThread: boolean): string {
  if (isThread) {
    return "A Jest worker thread exited unexpectedly before finishing tests for an unknown reason. One of the ways this can happen is if process.exit() was called in testing code.";
  }
  const which = `A jest worker process (pid=${processId ?? "unknown"})`;
  return signal === undefined
    ? `${which} crashed for an unknown reason: exitCode=${exitCode}`
    : `${which} was terminated by another process: signal=${signal}, exitCode=null. Operating system logs may contain more information on why this occurred.`;
}
