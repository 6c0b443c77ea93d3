/**
 * Chaos with streams: results and arguments that flow, both at once, `map`, events, calls of one worker, and broadcasts.
 *
 * Whatever happens to the workers: items arrive in order, each once, without gaps; a stream ends once; the source of an
 * argument is closed once and not asked afterwards; events come in order and before the result.
 */
import type { CallOptions, Pool } from "../../src/mod.ts";
import type * as tasks from "../fixtures/chaos-tasks.ts";
import { upTo } from "../support/random.ts";
import { pause } from "../support/runtime.ts";

export interface StreamChaos {
  readonly pool: Pool<typeof tasks>;
  readonly random: () => number;
  /** Takes note of how something settles; `check` says what is wrong with its value. */
  follow(n: number, call: Promise<unknown>, check: (value: unknown) => string | undefined): void;
  readonly faults: string[];
  /** Calls whose items are read by a loop: it may have items left to read when the call is over. */
  readonly readers: Set<number>;
  /** Sources of arguments that have begun and are not closed. */
  readonly openSources: Set<number>;
}

type Kind = (chaos: StreamChaos, n: number, options: CallOptions) => void;

/** Reads 0, 1, 2 … from a stream, at times slowly, and leaves it early at times. Resolves to how many it has read. */
async function readNumbers(
  { random, faults, readers }: StreamChaos,
  n: number,
  items: AsyncIterable<unknown>,
  leavesAfter: number,
): Promise<number> {
  const isSlow = random() < 0.2;
  readers.add(n);
  let next = 0;
  for await (const item of items) {
    if (item !== next) faults.push(`stream ${n}: item ${next} is ${String(item)}`);
    next++;
    if (next === leavesAfter) break;
    if (isSlow && next % 64 === 0) await pause(1);
  }
  return next;
}

function lengthOf(random: () => number): number {
  return random() < 0.2 ? upTo(random, 20_000) : upTo(random, 300);
}

/** After how many of `count` items a reader leaves. Infinity: after all. */
function leavingAfter(random: () => number, count: number): number {
  return random() < 0.3 ? 1 + upTo(random, count) : Infinity;
}

const readResult: Kind = (chaos, n, options) => {
  const { pool, random } = chaos;
  const isSlow = random() < 0.3;
  const count = isSlow ? upTo(random, 300) : lengthOf(random);
  const leavesAfter = leavingAfter(random, count);
  const stream = isSlow
    ? pool.call.countUpSlowly.with(options)(count, random() * 2)
    : pool.call.countUp.with(options)(count);
  const read = readNumbers(chaos, n, stream, leavesAfter);
  if (random() < 0.2) {
    chaos.follow(
      n,
      stream.returned,
      (value) =>
        value === count || (leavesAfter <= count && value === undefined)
          ? undefined
          : "another end",
    );
    read.catch(() => {});
    return;
  }
  stream.returned.catch(() => {});
  const expected = Math.min(count, leavesAfter);
  chaos.follow(
    n,
    read,
    (got) => got === expected ? undefined : `${String(got)} items of ${expected}`,
  );
};

/** A stream that is ended unread, or of which only the first item is read. */
const ignoreResult: Kind = ({ pool, random, follow }, n, options) => {
  const count = lengthOf(random);
  const stream = pool.call.countUp.with(options)(count);
  stream.returned.catch(() => {});
  const items = stream[Symbol.asyncIterator]();
  if (random() < 0.5) follow(n, Promise.resolve(items.return?.()), () => undefined);
  else {
    follow(
      n,
      items.next().then(({ value }) => value),
      // An empty stream ends with what its task returned.
      (value) => value === 0 ? undefined : `${String(value)} is not the first item`,
    );
  }
};

/** 0 … count - 1, as a source that reports being closed twice or asked after its end. */
function source(chaos: StreamChaos, n: number, count: number): AsyncIterable<number> {
  const { faults, openSources, random } = chaos;
  const isSlow = random() < 0.3;
  let isEnded = false;
  const end = (): void => {
    if (isEnded) faults.push(`source ${n} was ended twice`);
    isEnded = true;
    openSources.delete(n);
  };
  return {
    [Symbol.asyncIterator]() {
      openSources.add(n);
      let next = 0;
      return {
        async next() {
          if (isEnded) faults.push(`source ${n} was asked after its end`);
          if (isSlow && next % 100 === 0) await pause(1);
          if (next < count) return { done: false, value: next++ };
          end();
          return { done: true, value: undefined };
        },
        return() {
          end();
          return Promise.resolve({ done: true, value: undefined });
        },
      };
    },
  };
}

const sendArgument: Kind = (chaos, n, options) => {
  const { pool, random, follow } = chaos;
  const count = lengthOf(random);
  const most = leavingAfter(random, count);
  const call = pool.call.sum.with(options)(source(chaos, n, count), most);
  const read = Math.min(count, most);
  follow(
    n,
    call,
    (sum) => sum === (read * (read - 1)) / 2 ? undefined : `sum ${String(sum)} of ${read}`,
  );
};

const bothWays: Kind = (chaos, n, options) => {
  const { pool, random, follow } = chaos;
  const count = lengthOf(random);
  const leavesAfter = leavingAfter(random, count);
  const expected = Math.min(count, leavesAfter);
  const stream = pool.call.pass.with(options)(source(chaos, n, count));
  stream.returned.catch(() => {});
  follow(
    n,
    readNumbers(chaos, n, stream, leavesAfter),
    (got) => got === expected ? undefined : `${String(got)} items of ${expected}`,
  );
};

const mapItems: Kind = (chaos, n, options) => {
  const { pool, random, follow, faults, readers } = chaos;
  const count = lengthOf(random);
  readers.add(n);
  const ordered = random() < 0.7;
  const squares = pool.map(pool.call.square.with(options), source(chaos, n, count), { ordered });
  const read = async (): Promise<number> => {
    const seen = new Set<number>();
    for await (const square of squares) {
      if (ordered && square !== seen.size ** 2) faults.push(`map ${n}: ${square} at ${seen.size}`);
      if (seen.has(square)) faults.push(`map ${n}: ${square} twice`);
      seen.add(square);
    }
    return seen.size;
  };
  follow(n, read(), (got) => got === count ? undefined : `${String(got)} results of ${count}`);
};

const emitEvents: Kind = ({ pool, random, follow, faults }, n, options) => {
  const count = lengthOf(random);
  let next = 0;
  const onEvent = (event: unknown): void => {
    // A call that is made again emits all of them again.
    if (event === 0 && (options.retries ?? 0) > 0) next = 0;
    if (event !== next) faults.push(`call ${n}: event ${next} is ${String(event)}`);
    next++;
  };
  follow(
    n,
    pool.call.emitUpTo.with({ ...options, onEvent })(count),
    (result) => result === count && next === count ? undefined : `${next} events of ${count}`,
  );
};

const callKeyed: Kind = ({ pool, random, follow }, n, options) => {
  const key = upTo(random, 3);
  follow(
    n,
    pool.call.echo.with({ ...options, affinity: key })(n),
    (value) => value === n ? undefined : "another value",
  );
};

const callAll: Kind = ({ pool, follow }, n) => {
  // It rejects with an AggregateError of the errors of single workers.
  const settled = pool.broadcast.echo(n).catch((error: unknown) => {
    throw error instanceof AggregateError ? error.errors[0] : error;
  });
  follow(
    n,
    settled,
    (values) => (values as unknown[]).every((value) => value === n) ? undefined : "another value",
  );
};

const KINDS: readonly Kind[] = [
  readResult,
  readResult,
  ignoreResult,
  sendArgument,
  sendArgument,
  bothWays,
  mapItems,
  emitEvents,
  callKeyed,
  callAll,
];

/** One random call of these kinds. */
export function makeStreamCall(chaos: StreamChaos, n: number, options: CallOptions): void {
  KINDS[upTo(chaos.random, KINDS.length - 1)]!(chaos, n, options);
}
