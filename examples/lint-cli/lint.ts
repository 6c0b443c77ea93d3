/** Lints many files in the workers of a pool, and survives those that a file brings down. */
import { availableParallelism } from "node:os";
import { createPool, type Pool, WorkerLostError } from "heddle";
import { type Checked, lintFiles } from "./tasks.ts";

export type LintPool = Pool<{ lintFiles: typeof lintFiles }>;

export type Outcome =
  | Checked
  /** Ctrl-C came first, or no worker could be started any more. */
  | { readonly kind: "skipped" };

export interface LintOptions {
  /** Files that have not been checked when it aborts are skipped. */
  readonly signal: AbortSignal;
  /** Called after files that were not skipped, in the order in which workers finish. */
  readonly onFiles?: (count: number) => void;
}

/** The host only waits, so all cores are the workers'; heddle's default would leave one to it. */
export const THREADS: number = availableParallelism();

/** One worker for few files, and more when they are worth their start. */
export function createLintPool(threads: number = THREADS): LintPool {
  return createPool({ minThreads: 1, maxThreads: threads, worker: { name: "lint" } })({
    lintFiles,
  });
}

/** Each call wakes a worker, and its result the host: some 60 µs of processor time, which files of a batch share. */
const MAX_BATCH = 8;
/** Few files make small batches, so that all workers end at about the same time. */
const MIN_BATCHES = 8 * THREADS;

function batchesOf(paths: readonly string[]): string[][] {
  const size = Math.min(MAX_BATCH, Math.ceil(paths.length / MIN_BATCHES));
  const count = Math.ceil(paths.length / size) || 0; // no files, no batches
  return Array.from({ length: count }, (_, n) => paths.slice(n * size, (n + 1) * size));
}

/**
 * The outcome of each file, in the order of `paths` whatever the order in which workers finish. Throws at the end if the pool has failed.
 * Calls that have not begun when a worker ends run in the others; the files of the call that it ran are called again one by one.
 */
export async function* lint(
  pool: LintPool,
  paths: readonly string[],
  { signal, onFiles }: LintOptions,
): AsyncGenerator<readonly [path: string, outcome: Outcome]> {
  const lintInTime = pool.call.lintFiles.with({ signal });
  let failure: unknown;

  const outcomesOf = async (batch: readonly string[]): Promise<readonly Outcome[]> => {
    try {
      const outcomes = await lintInTime(batch);
      onFiles?.(batch.length);
      return outcomes;
    } catch (error) {
      if (!(error instanceof WorkerLostError)) {
        if (!signal.aborted) failure ??= error; // the pool has failed: no file is to blame
        return batch.map(() => ({ kind: "skipped" }));
      }
      if (batch.length > 1) {
        return (await Promise.all(batch.map((path) => outcomesOf([path])))).flat();
      }
      onFiles?.(1);
      return [{ kind: "crashed", reason: `its worker ended (exit code ${error.exitCode})` }];
    }
  };

  const batches = batchesOf(paths).map((batch) => ({ batch, outcomes: outcomesOf(batch) }));
  for (const { batch, outcomes } of batches) {
    for (const [index, outcome] of (await outcomes).entries()) yield [batch[index]!, outcome];
  }
  if (failure !== undefined) throw failure;
}
