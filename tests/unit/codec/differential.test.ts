/**
 * The codec against `structuredClone` of the runtime, over generated values.
 *
 * `HEDDLE_DIFFERENTIAL_RUNS` sets the number of values, `HEDDLE_SEED` the seed. All values go through
 * the same codec, and each goes several times in changing order: at first sight of an object's key list
 * its keys travel along, later they do not.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decode, encode, roundTrip } from "../../support/codec.ts";
import { seedOfRun } from "../../support/random.ts";
import { differences } from "../../support/same.ts";
import { argumentLists, keys, primitives, values } from "../../support/values.ts";

const RUNS = Number(process.env["HEDDLE_DIFFERENTIAL_RUNS"] ?? 6000);
const seed = seedOfRun();
/** Five minutes for each 100,000 values. */
const TIMEOUT_MS = 30_000 + RUNS * 3;

/** Values in one run; each is sent once per round. */
const MAX_VALUES = 3;
const ROUNDS = 3;

function expectSame(actual: unknown, expected: unknown): void {
  const found = differences(actual, expected);
  if (found.length > 0) throw new Error(found.join("\n"));
}

/** Sends the values forwards and backwards in turn. */
function expectClones(lists: readonly (readonly unknown[])[]): void {
  const expected = lists.map((list) => structuredClone(list));
  for (let round = 0; round < ROUNDS; round++) {
    const order = [...lists.keys()];
    if (round % 2 === 1) order.reverse();
    for (const index of order) expectSame(roundTrip(lists[index]!), expected[index]);
  }
}

function check<Value>(arbitrary: fc.Arbitrary<Value>, runs: number, each: (value: Value) => void) {
  fc.assert(fc.property(arbitrary, each), { seed, numRuns: Math.ceil(runs) });
}

describe(
  `values arrive as structuredClone would copy them, seed ${seed}`,
  { timeout: TIMEOUT_MS },
  () => {
    test("one value", () => {
      const several = fc.array(values, { minLength: 1, maxLength: MAX_VALUES });
      check(several, RUNS / 2, (list) => expectClones(list.map((value) => [value])));
    });

    test("several arguments that share objects and buffers", () => {
      check(fc.array(argumentLists, { minLength: 1, maxLength: 2 }), RUNS / 3, expectClones);
    });

    test("many records of one key list with exceptions among them", () => {
      const keyList = fc.uniqueArray(keys, { minLength: 1, maxLength: 8 });
      const records = keyList.chain((names) =>
        fc.array(fc.array(primitives, { maxLength: names.length }), { maxLength: 12 }).map((rows) =>
          rows.map((row) => Object.fromEntries(row.map((value, column) => [names[column]!, value])))
        )
      );
      check(records, RUNS / 10, (list) => expectClones([[list], list]));
    });

    test("encoded bytes decode to the same values", () => {
      check(argumentLists, RUNS / 6, (list) => {
        const expected = structuredClone(list);
        const bytes = encode(list);
        expectSame(decode(bytes, list.length), expected);
        expectSame(decode(bytes.slice(), list.length), expected);
      });
    });
  },
);

test("encoding does not change the values", () => {
  const nothingHidden = fc.array(values, { maxLength: 3 });
  check(nothingHidden, RUNS / 20, (list) => {
    const before = structuredClone(list);
    roundTrip(list);
    expectSame(structuredClone(list), before);
  });
  expect(Object.keys(Object.prototype)).toEqual([]);
});
