/**
 * Other ways to run a task. Each has an index in the pool's task table, after those of the tasks themselves, so requests
 * and timings need nothing new: task + variant × number of tasks, or 1 if there is none, since a pool without tasks may have objects.
 */

// Variant 0 is the task itself.
/** Calls the task for many arguments at once (`pool.map`). */
export const CHUNK = 1;
/** The task may send events to its caller (`emit`). */
export const EMITTING = 2;
/** Calls an object that lives in the worker (`pool.spawn`), and not the task. */
export const OBJECT = 3;
/** The same for a method that is a generator. */
export const OBJECT_STREAM = 4;

export const VARIANTS = 5;

/**
 * The result of a chunk: the results of its items, the run time in milliseconds, the number of items that were used (a
 * worker may end a chunk before its last item), and the error that ended it, if any.
 */
export type ChunkResult = readonly [
  results: readonly unknown[],
  ms: number,
  used: number,
  error?: unknown,
];
