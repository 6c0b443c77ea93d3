/** Options of `child_process.fork` and of threads, as far as heddle has them. Others are refused by name. */
import type { ForkOptions } from "node:child_process";

type Target = "pipe" | "inherit" | "ignore";

/** How workers are started. */
export interface StartOptions {
  readonly stdout: Target;
  readonly stderr: Target;
  readonly isJson: boolean;
  readonly execPath: string | undefined;
  readonly cwd: string | URL | undefined;
  readonly env: Record<string, string> | symbol | undefined;
  readonly argv: readonly string[] | undefined;
  readonly execArgv: readonly string[] | undefined;
  readonly name: string | undefined;
}

/** Options of `new Worker()` of `node:worker_threads` that may be among `forkOptions`. */
interface ThreadOptions {
  readonly argv?: readonly unknown[];
  readonly name?: string;
}

const REFUSED = ["argv0", "detached", "gid", "killSignal", "signal", "timeout", "uid"] as const;

export function processOptions(given: ForkOptions, id: string): StartOptions {
  for (const key of REFUSED) {
    const value = (given as Readonly<Record<string, unknown>>)[key];
    if (value !== undefined && value !== false) {
      throw new TypeError(`forkOptions.${key} cannot be had with @heddle/jest-worker.`);
    }
  }
  const [stdout, stderr] = targetsOf(given);
  const env = given.env ?? {
    ...process.env,
    JEST_WORKER_ID: id,
    // It writes to a pipe, whose text this program may print.
    ...(hasColors() && { FORCE_COLOR: "1" }),
  };
  return {
    stdout,
    stderr,
    isJson: given.serialization === "json",
    execPath: given.execPath,
    cwd: given.cwd,
    env: textsOf(env),
    argv: undefined,
    execArgv: given.execArgv,
    name: undefined,
  };
}

export function threadOptions(given: ForkOptions): StartOptions {
  const { argv, name } = given as ThreadOptions;
  const { env, execArgv } = given;
  return {
    stdout: "pipe",
    stderr: "pipe",
    isJson: false,
    execPath: undefined,
    cwd: undefined,
    env: typeof env === "symbol" ? env : env === undefined ? undefined : textsOf(env),
    argv: argv?.map(String),
    execArgv,
    name,
  };
}

const hasColors = (): boolean => process.stdout.isTTY && process.stdout.hasColors?.() === true;

/** Where stdout and stderr go. */
function targetsOf({ silent, stdio }: ForkOptions): readonly [Target, Target] {
  const given: readonly unknown[] = Array.isArray(stdio)
    ? stdio
    : Array<unknown>(3).fill(stdio ?? (silent === false ? "inherit" : "pipe"));
  const isMore = given.slice(3).some((target) =>
    ![undefined, null, "ignore", "ipc"].includes(
      target as string,
    )
  );
  const targets = [given[1], given[2]].map((target) =>
    target === undefined || target === null || target === "overlapped" ? "pipe" : target
  );
  if (
    isMore || !targets.every((target) => ["pipe", "inherit", "ignore"].includes(String(target)))
  ) {
    throw new TypeError(
      'forkOptions.stdio can be "pipe", "inherit" or "ignore" for stdout and stderr with @heddle/jest-worker.',
    );
  }
  return targets as [Target, Target];
}

/** As a process gets it: texts. */
function textsOf(env: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, String(value)]),
  );
}
