/** Errors of workers, as workerpool shows them: an `Error` with the own properties that JSON keeps of the one in the worker. */

import type { Any } from "./types.ts";

/** The reason of tasks whose worker ended by itself. */
export class TerminateError extends Error {
  /** What ended the worker, if it was an error. */
  override readonly cause: unknown;

  /** Creates the error. */
  constructor(message = "worker terminated", cause?: unknown) {
    super(message);
    this.cause = cause;
  }
}

/** An error as data: what `JSON.stringify` makes of its own properties, or what its `toJSON` returns. */
export type ErrorData = Readonly<Record<string, unknown>>;

/** In a worker: the data of what a function threw. */
export function errorToData(error: Any): ErrorData {
  try {
    if (error?.toJSON) return Object(JSON.parse(JSON.stringify(error)));
    if (error !== null && typeof error === "object" || typeof error === "function") {
      return JSON.parse(JSON.stringify(error, Object.getOwnPropertyNames(error)));
    }
    return { message: String(error) };
  } catch { // not JSON: a cycle, a bigint
    return { message: String(error?.message ?? error), stack: String(error?.stack) };
  }
}

/** On the host: an error with that data. */
export function dataToError(data: ErrorData): Error {
  const error = new Error("") as Error & Record<string, unknown>;
  for (const [name, value] of Object.entries(data)) error[name] = value;
  return error;
}

/** What heddle says of a worker that ended. */
export interface Loss {
  /** The exit code. */
  readonly exitCode?: number | undefined;
  /** The signal that ended it. */
  readonly signal?: string | undefined;
  /** The last lines of its stderr. */
  readonly stderr?: string | undefined;
  /** The error that ended it. */
  readonly cause?: unknown;
}

/** The error of the tasks of a worker that ended by itself. `program`: what its process runs; undefined: it is a thread. */
export function lossError(
  { exitCode, signal, stderr, cause }: Loss,
  script: string,
  program: string | undefined,
): TerminateError {
  if (cause !== undefined) {
    const message = (cause as { message?: unknown } | null)?.message ?? cause;
    return new TerminateError(`Workerpool Worker error: ${String(message)}`, cause);
  }
  return new TerminateError(
    "Workerpool Worker terminated Unexpectedly\n" +
      `    exitCode: \`${exitCode}\`\n` +
      `    signalCode: \`${program === undefined ? undefined : signal ?? null}\`\n` +
      `    workerpool.script: \`${script}\`\n` +
      `    spawnArgs: \`${program === undefined ? undefined : [program, script]}\`\n` +
      `    spawnfile: \`${program}\`\n` +
      `    stdout: \`null\`\n` +
      `    stderr: \`${stderr ?? null}\`\n`,
  );
}
