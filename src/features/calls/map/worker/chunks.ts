/** Calls a task for many arguments at once (`pool.map`). */
import type { ChunkResult } from "../../../../protocol/task-variants.ts";
import { DataCloneError } from "../../../../errors.ts";
import { isThenable } from "../../../../protocol/is-thenable.ts";
import type { WorkerTask } from "../../../../worker/task.ts";

/** The place of the first result that cannot be cloned, as its error names it. */
const PLACE = /^result\[0\]\[(\d+)\]/;

/** A chunk that ends with the first result that cannot be cloned, as if its item had failed. */
export function withoutUncloneable(chunk: unknown, reason: unknown): ChunkResult | undefined {
  if (!(reason instanceof DataCloneError)) return undefined;
  const [, at] = PLACE.exec(reason.message) ?? [];
  if (at === undefined) return undefined;
  const [results, ms, used] = chunk as ChunkResult;
  const before = results.slice(0, Number(at));
  const error = new DataCloneError(reason.message.replace(PLACE, "result"));
  return [before, ms, used - results.length + before.length + 1, error];
}

/** One after the other: each item's result, or the reduction of all items, until the chunk is aborted or its time is up. */
export function chunkOf({ f, hasSignal }: WorkerTask, now: () => number): WorkerTask["f"] {
  // A signal comes last.
  return (items: unknown, isReduction: unknown, budgetMs: unknown, ...rest: unknown[]) => {
    const signal = rest.pop() as AbortSignal;
    const withSignal = (args: unknown[]): unknown => {
      while (args.length < f.length - 1) args.push(undefined);
      return f(...args, signal);
    };
    const given = hasSignal ? withSignal : (args: unknown[]): unknown => f(...args);
    // The usual case builds no further array.
    const call = rest.length === 0
      ? given
      : (args: unknown[]): unknown => given([...args, ...rest]);
    const run = new ChunkRun(items as unknown[], isReduction === true, signal, now);
    run.budgetMs = budgetMs as number;
    return run.next(call);
  };
}

class ChunkRun {
  /** The chunk begins no further item after this time. */
  budgetMs = Infinity;
  readonly #items: readonly unknown[];
  readonly #isReduction: boolean;
  readonly #signal: AbortSignal;
  readonly #now: () => number;
  readonly #startMs: number;
  readonly #results: unknown[] = [];
  #at = 0;
  /** The item before which the signal is looked at next. */
  #checkAt = 0;

  constructor(
    items: readonly unknown[],
    isReduction: boolean,
    signal: AbortSignal,
    now: () => number,
  ) {
    this.#items = items;
    this.#isReduction = isReduction;
    this.#signal = signal;
    this.#now = now;
    this.#startMs = now();
    if (isReduction) this.#results.push(items[this.#at++]);
  }

  /** Goes on until the task has to be awaited, throws, or there are no more items. */
  next(call: (args: unknown[]) => unknown): ChunkResult | Promise<ChunkResult> {
    const { length } = this.#items;
    try {
      while (this.#at < length && !this.#mustEnd()) {
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

  #mustEnd(): boolean {
    const isFirst = this.#at === Number(this.#isReduction);
    if (this.budgetMs !== Infinity && !isFirst && this.#now() - this.#startMs >= this.budgetMs) {
      return true;
    }
    // Looks at the signal up to 64 times in a chunk: that takes as long as a short task.
    if (this.#at < this.#checkAt) return false;
    this.#checkAt = this.#at + 1 + (this.#items.length >> 6);
    return this.#signal.aborted;
  }

  #keep(result: unknown): void {
    if (this.#isReduction) this.#results[0] = result;
    else this.#results.push(result);
  }

  #end(error: readonly [] | readonly [unknown]): ChunkResult {
    return [this.#results, this.#now() - this.#startMs, this.#at, ...error];
  }
}
