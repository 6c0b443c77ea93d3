/** The variants of tasks as a worker runs them (lane/task-variants.ts). */
import type { ChunkResult } from "../lane/task-variants.ts";
import { isThenable, type WorkerTask } from "./task-modules.ts";

/** The tasks, then those that take chunks, then those that send events. */
export function withVariants(
  tasks: readonly WorkerTask[],
  now: () => number,
): readonly WorkerTask[] {
  const { length } = tasks;
  return [
    ...tasks,
    ...tasks.map((task) => ({
      ...task,
      f: chunkOf(task, now),
      mayBorrow: false,
      index: task.index + length,
      signature: undefined,
      isStream: false,
    })),
    ...tasks.map((task) => ({ ...task, index: task.index + 2 * length, emits: true })),
  ];
}

/** One after the other: each item's result, or the reduction of all items. */
function chunkOf({ f, hasSignal }: WorkerTask, now: () => number): WorkerTask["f"] {
  const call = (args: unknown[], signal: unknown): unknown => {
    if (!hasSignal) return f(...args);
    while (args.length < f.length - 1) args.push(undefined);
    return f(...args, signal);
  };
  // Three parameters: a signal comes last.
  return (items: unknown, isReduction: unknown, signal: unknown) => {
    const run = new ChunkRun(items as unknown[], isReduction === true, now);
    return run.next((args) => call(args, signal));
  };
}

class ChunkRun {
  readonly #items: readonly unknown[];
  readonly #isReduction: boolean;
  readonly #now: () => number;
  readonly #startMs: number;
  readonly #results: unknown[] = [];
  #at = 0;

  constructor(items: readonly unknown[], isReduction: boolean, now: () => number) {
    this.#items = items;
    this.#isReduction = isReduction;
    this.#now = now;
    this.#startMs = now();
    if (isReduction) this.#results.push(items[this.#at++]);
  }

  /** Goes on until the task has to be awaited, throws, or there are no more items. */
  next(call: (args: unknown[]) => unknown): ChunkResult | Promise<ChunkResult> {
    const { length } = this.#items;
    try {
      while (this.#at < length) {
        const item = this.#items[this.#at++];
        const result = call(this.#isReduction ? [this.#results[0], item] : [item]);
        if (isThenable(result)) return this.#await(result, call);
        this.#keep(result);
      }
    } catch (error) {
      return this.#end([error]);
    }
    return this.#end([]);
  }

  async #await(
    promise: PromiseLike<unknown>,
    call: (args: unknown[]) => unknown,
  ): Promise<ChunkResult> {
    try {
      this.#keep(await promise);
    } catch (error) {
      return this.#end([error]);
    }
    return this.next(call);
  }

  #keep(result: unknown): void {
    if (this.#isReduction) this.#results[0] = result;
    else this.#results.push(result);
  }

  #end(error: readonly [] | readonly [unknown]): ChunkResult {
    return [this.#results, this.#now() - this.#startMs, ...error];
  }
}
