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

interface Stock {
  readonly originals: readonly Error[];
  errors: Error[];
}

const stocks = new Map<ErrorConstructor, Stock>();

/** See `ErrorAccess.bare`. */
export function bareError(create: ErrorConstructor): Error | undefined {
  let stock = stocks.get(create);
  if (stock === undefined) {
    stocks.set(create, stock = { originals: createMany(create), errors: [] });
  }
  if (stock.errors.length === 0) stock.errors = structuredClone(stock.originals) as Error[];
  return stock.errors.pop();
}

function createMany(create: ErrorConstructor): readonly Error[] {
  return Array.from({ length: AT_ONCE }, () => {
    const error = new create("");
    error.stack = "";
    return error;
  });
}
