/**
 * A send or a receive that can be awaited, or given to `select` instead: then only the chosen one of several happens. It begins by itself
 * in the next microtask, unless `select` has taken it.
 */
import { queueMicrotask } from "../../builtins.ts";
import { InvalidArgumentError } from "../../errors.ts";
import { checkBoolean, invalid, show } from "../../option-checks.ts";
import { checkWait, NO_OPTIONS } from "../given.ts";
import type { WaitOptions } from "../threads/condition.ts";
import type { Timer } from "../../runtimes/runtime.ts";
import { type ThisThread, thisThread } from "../threads/this-thread.ts";

/** One try. Undefined: not yet. */
type Result<T> = { readonly value: T } | undefined;

/** A send, a receive or a timer: await it, or give it to {@link select}. */
export class Operation<T> implements Promise<T> {
  readonly #thread: ThisThread;
  readonly #name: string;
  readonly #options: WaitOptions;
  readonly #attempt: (registers: boolean) => Result<T>;
  readonly #end: (() => void) | undefined;
  #promise: Promise<T> | undefined;
  #isTaken = false;

  /** @internal `options` were checked; `attempt` tries once; `end` is called when it is over, if it has begun. */
  constructor(
    name: string,
    options: WaitOptions,
    attempt: (registers: boolean) => Result<T>,
    end?: () => void,
  ) {
    this.#thread = thisThread();
    this.#name = name;
    this.#options = options;
    this.#attempt = attempt;
    this.#end = end;
    queueMicrotask(() => {
      if (!this.#isTaken) void this.#begin();
    });
  }

  /** Whether it can be given to `select`: it has not begun. */
  get isIdle(): boolean {
    return this.#promise === undefined;
  }

  /** For `select`: it does not begin by itself. @internal */
  take(): void {
    this.#isTaken = true;
  }

  /** As of a promise. */
  get [Symbol.toStringTag](): string {
    return "Operation";
  }

  /** For `select`: tries once. @internal */
  attempt(registers: boolean): Result<T> {
    return this.#attempt(registers);
  }

  /** For `select`: it is over. @internal */
  end(): void {
    this.#end?.();
  }

  #begin(): Promise<T> {
    return this.#promise ??= this.#run();
  }

  async #run(): Promise<T> {
    let result: Result<T>;
    try {
      this.#options.signal?.throwIfAborted();
      result = this.#attempt(true);
      if (result !== undefined) {
        await this.#thread.loop.turn();
      } else {
        const check = (): boolean => (result = this.#attempt(true)) !== undefined;
        await this.#thread.loop.until({ check }, this.#name, this.#options);
      }
    } finally {
      this.#end?.();
    }
    return result!.value;
  }

  /** As of a promise. */
  // oxlint-disable-next-line unicorn/no-thenable -- awaiting it is what it is for
  then<Kept = T, Failed = never>(
    onFulfilled?: ((value: T) => Kept | PromiseLike<Kept>) | null,
    onRejected?: ((reason: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Kept | Failed> {
    return this.#begin().then(onFulfilled, onRejected);
  }

  /** As of a promise. */
  catch<Failed = never>(
    onRejected?: ((reason: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<T | Failed> {
    return this.#begin().catch(onRejected);
  }

  /** As of a promise. */
  finally(onFinally?: (() => void) | null): Promise<T> {
    return this.#begin().finally(onFinally);
  }
}

/** How {@link select} chooses. */
export interface SelectOptions extends WaitOptions {
  /** Takes the first that is ready in the order given, instead of any. @default false */
  readonly biased?: boolean;
}

const SELECT = ["biased", "timeoutMs", "signal"];

type ValueOf<O> = O extends Operation<infer T> ? T : never;

/** What {@link select} chose. */
export type Selected<Operations extends readonly Operation<unknown>[]> = {
  [Index in keyof Operations]: {
    /** Its place among the operations. */
    readonly index: Index extends `${infer Place extends number}` ? Place : number;
    /** Its result. */
    readonly value: ValueOf<Operations[Index]>;
  };
}[number];

/**
 * Waits for several operations and lets exactly one happen: the first that can. Rejects if that one fails, for
 * example because its channel has ended. Time limits and signals of the operations themselves count only without `select`.
 *
 * @example
 * ```ts
 * const { index, value } = await select([jobs.receive(), stop.receive(), timer(50)]);
 * ```
 */
export async function select<const Operations extends readonly Operation<unknown>[]>(
  operations: Operations,
  options: SelectOptions = NO_OPTIONS,
): Promise<Selected<Operations>> {
  // First: a select that is refused lets none of them happen.
  if (!Array.isArray(operations)) throw invalid("operations", "an array", show(operations));
  const taken = operations.filter((operation) =>
    operation instanceof Operation && operation.isIdle
  );
  for (const operation of taken) operation.take();
  try {
    checkOperations(operations, taken.length);
    checkWait("select", options, SELECT);
    if (options.biased !== undefined) checkBoolean("biased", options.biased);
  } catch (error) {
    for (const operation of taken) operation.end();
    throw error;
  }
  let chosen: { index: number; value: unknown } | undefined;
  const check = (): boolean => {
    const { length } = operations;
    const start = options.biased === true ? 0 : Math.floor(Math.random() * length);
    for (let step = 0; step < length; step++) {
      const index = (start + step) % length;
      const result = operations[index]!.attempt(true);
      if (result === undefined) continue;
      chosen = { index, value: result.value };
      return true;
    }
    return false;
  };
  try {
    await thisThread().loop.until({ check }, "select()", options);
  } finally {
    for (const operation of operations) operation.end();
  }
  return chosen as Selected<Operations>;
}

function checkOperations(operations: readonly unknown[], idle: number): void {
  if (operations.length === 0) {
    throw new InvalidArgumentError("select() of no operations would wait for ever.");
  }
  if (idle < operations.length) {
    throw new InvalidArgumentError(
      "select() takes operations that have not begun: sends, receives and timers, made in the call.",
    );
  }
}

/** The longest delay of a timer of the runtimes. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** An operation for {@link select} that is ready `ms` milliseconds after it was made. */
export function timer(ms: number): Operation<void> {
  if (!(typeof ms === "number" && ms >= 0 && ms <= MAX_TIMER_MS)) {
    throw invalid("ms", `a number of milliseconds from 0 to ${MAX_TIMER_MS}`, show(ms));
  }
  const { runtime, loop } = thisThread();
  const endMs = runtime.now() + ms;
  let alarm: Timer | undefined;
  return new Operation("A timer", NO_OPTIONS, () => {
    const leftMs = endMs - runtime.now();
    if (leftMs <= 0) return { value: undefined };
    // Timers may come a moment early, so it is set again then.
    alarm ??= runtime.setTimeout(() => {
      alarm = undefined;
      loop.checkAll();
    }, Math.ceil(leftMs));
    return undefined;
  }, () => {
    alarm?.clear();
    alarm = undefined;
  });
}
