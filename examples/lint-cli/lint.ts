/** Lints many files in the workers of a pool, and survives those that a file brings down. */
import { availableParallelism } from "node:os";
import { createPool, type Pool, WorkerLostError, WorkerStartError } from "heddle";
import type { Problem } from "./rules.ts";
import { lintFile } from "./tasks.ts";

export type LintPool = Pool<{ lintFile: typeof lintFile }>;

export type Outcome =
  | { readonly kind: "checked"; readonly problems: readonly Problem[] }
  /** A rule threw, or ended its worker. */
  | { readonly kind: "crashed"; readonly reason: string }
  /** Ctrl-C came first, or no worker could be started any more. */
  | { readonly kind: "skipped" };

export interface LintOptions {
  /** Files that have not been checked when it aborts are skipped. */
  readonly signal: AbortSignal;
  /** Called after each file that was not skipped, in the order in which workers finish. */
  readonly onFile?: () => void;
}

/** The host only waits, so all cores are the workers'; heddle's default would leave one to it. */
export function createLintPool(threads: number = availableParallelism()): LintPool {
  return createPool({ threads, worker: { name: "lint" } })({ lintFile });
}

function reasonOf(error: unknown): string {
  if (error instanceof WorkerLostError) return `its worker ended (exit code ${error.exitCode})`;
  return String(error);
}

/**
 * The outcome of each file, in the order of `paths` whatever the order in which workers finish. Throws at the end if the pool has failed.
 *
 * Each file is a call of its own: 2 ms of work make the microseconds of a call small, and a worker that is lost takes
 * one file with it, not a batch. What has not begun then runs in the others.
 */
export async function* lint(
  pool: LintPool,
  paths: readonly string[],
  { signal, onFile }: LintOptions,
): AsyncGenerator<readonly [path: string, outcome: Outcome]> {
  const lintInTime = pool.call.lintFile.with({ signal });
  let failure: WorkerStartError | undefined;
  const outcomeOf = async (path: string): Promise<Outcome> => {
    try {
      return { kind: "checked", problems: await lintInTime(path) };
    } catch (error) {
      if (error instanceof WorkerStartError) failure = error; // no file is to blame
      if (error === failure || signal.aborted) return { kind: "skipped" };
      return { kind: "crashed", reason: reasonOf(error) };
    }
  };
  const outcomes = paths.map(async (path) => {
    const outcome = await outcomeOf(path);
    if (outcome.kind !== "skipped") onFile?.();
    return outcome;
  });
  for (const [index, path] of paths.entries()) yield [path, await outcomes[index]!];
  if (failure !== undefined) throw failure;
}
