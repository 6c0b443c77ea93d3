/**
 * Errors that were made without a stack: cloned from others, many at a time.
 *
 * For runtimes whose constructors record a native stack whatever `Error.stackTraceLimit` says: on Deno an error
 * costs 2 µs, and 6 from ten calls deep; one of sixteen that are cloned at once 0.7. (`v8.deserialize` takes 0.5, but
 * keeps what it has made until the second full collection: a hundred MiB after a million errors.)
 */
const { structuredClone } = globalThis;

/** How many of a class are made at once. */
const AT_ONCE = 16;

/** Those that structured clone tells apart. */
const CLASSES: readonly ErrorConstructor[] = [
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
];

interface Stock {
  readonly create: ErrorConstructor;
  originals: readonly Error[] | undefined;
  errors: Error[];
}

const stocks: ReadonlyMap<string, Stock> = new Map(
  CLASSES.map((create) => [create.name, { create, originals: undefined, errors: [] }]),
);

/** An error of this built-in class with an own message and stack, both empty; undefined for any other class. */
export function bareError(type: string): Error | undefined {
  const stock = stocks.get(type);
  if (stock === undefined) return undefined;
  if (stock.errors.length === 0) {
    stock.originals ??= createMany(stock.create);
    stock.errors = structuredClone(stock.originals) as Error[];
  }
  return stock.errors.pop();
}

function createMany(create: ErrorConstructor): readonly Error[] {
  return Array.from({ length: AT_ONCE }, () => {
    const error = new create("");
    error.stack = "";
    return error;
  });
}
