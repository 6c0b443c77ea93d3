/** Records the atomic operations of a piece of code on named words, in order. */

type Words = Int32Array<SharedArrayBuffer>;

export interface NamedWord {
  readonly name: string;
  readonly words: Words;
  readonly index: number;
  /** Called before the operation takes effect. */
  readonly before?: (operation: string, value: number) => void;
}

/** Runs `body` and returns its operations as `operation name=value`. Restores `Atomics`. */
export function logAtomics(named: readonly NamedWord[], body: () => void): string[] {
  const log: string[] = [];
  const restore = install(named, log);
  try {
    body();
  } finally {
    restore();
  }
  return log;
}

/** The same until a promise settles. */
export async function logAtomicsUntil(
  named: readonly NamedWord[],
  body: () => Promise<void>,
): Promise<string[]> {
  const log: string[] = [];
  const restore = install(named, log);
  try {
    await body();
  } finally {
    restore();
  }
  return log;
}

/** Has the operations written down in `log` until the function that it returns is called. */
function install(named: readonly NamedWord[], log: string[]): () => void {
  const real = { ...Object.getOwnPropertyDescriptors(Atomics) };
  const keyOf = (words: Words, index: number) => words.byteOffset + 4 * index;
  const wrap = (operation: "load" | "store" | "compareExchange" | "add" | "exchange" | "wait") => {
    const original = Atomics[operation] as (...args: unknown[]) => unknown;
    return (words: Words, index: number, ...values: number[]) => {
      const word = named.find((each) =>
        each.words.buffer === words.buffer && keyOf(each.words, each.index) === keyOf(words, index)
      );
      if (word !== undefined) {
        word.before?.(operation, values.at(-1) ?? 0);
        log.push(`${operation} ${word.name}${values.length > 0 ? `=${values.join(",")}` : ""}`);
      }
      return original(words, index, ...values);
    };
  };
  for (
    const operation of ["load", "store", "compareExchange", "add", "exchange", "wait"] as const
  ) {
    Object.defineProperty(Atomics, operation, { value: wrap(operation), configurable: true });
  }
  return () => {
    for (const [key, descriptor] of Object.entries(real)) {
      if (descriptor.configurable === true) Object.defineProperty(Atomics, key, descriptor);
    }
  };
}
