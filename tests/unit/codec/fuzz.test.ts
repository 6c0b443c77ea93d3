/**
 * The decoder fed with bytes no encoder wrote: it returns or throws an error with a code of ours, at
 * once, and takes no more memory than the bytes can stand for.
 *
 * `HEDDLE_FUZZ_RUNS` sets the number of inputs of each property, `HEDDLE_SEED` the seed.
 */
// oxlint-disable no-sparse-arrays -- holes are among what is tested
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decode, encode } from "../../support/codec.ts";
import { createRandom, seedOfRun } from "../../support/random.ts";
import { differences } from "../../support/same.ts";
import { argumentLists } from "../../support/values.ts";

const RUNS = Number(process.env["HEDDLE_FUZZ_RUNS"] ?? 3000);
const seed = seedOfRun();
const TIMEOUT_MS = 60_000 + RUNS;

/** No input is larger than a few KiB. The system may hold up a thread for as long, but not time and again. */
const MAX_MS = 1000;
const MAX_SLOW = 3;
/** Growth of the process over thousands of inputs. A buffer claimed but not there would be 1 GiB. */
const MAX_GROWTH = 400 << 20;

/** Claims of length that a decoder must not believe. */
const wildWords = [-1, -2, 0x7fffffff, 0x7ffffff8, -0x80000000, 0x40000000, 0x10000000, 0xffff, 0];
const wildDoubles = [
  2 ** 31,
  2 ** 32,
  2 ** 33,
  2 ** 53,
  1e300,
  Infinity,
  -Infinity,
  NaN,
  -1,
  -8,
  0.5,
];

/** Decodes bytes that may be anything. */
function feed(bytes: Uint8Array, count: number, slowBefore = 0): void {
  const startedAt = performance.now();
  let decoded: unknown[] | undefined;
  try {
    decoded = decode(bytes, count);
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (typeof code !== "string" || !code.startsWith("HEDDLE_")) {
      throw new Error(`No coded error: ${String(error)}`, { cause: error });
    }
  }
  const took = performance.now() - startedAt;
  if (took > MAX_MS) {
    if (slowBefore + 1 < MAX_SLOW) return feed(bytes, count, slowBefore + 1);
    throw new Error(`${bytes.length} bytes took ${took} ms.`);
  }
  if (decoded === undefined) return;
  if (decoded.length !== count) throw new Error(`${decoded.length} values instead of ${count}.`);
  for (const value of decoded) expectNoMoreThan(bytes.length, value);
}

/** Nothing in the graph may be larger than what the bytes can have held. */
function expectNoMoreThan(limit: number, root: unknown): void {
  const pending = [root];
  const seen = new Set<unknown>();
  for (
    let value = pending.pop();
    pending.length > 0 || value !== undefined;
    value = pending.pop()
  ) {
    if (typeof value === "string" && value.length > limit) throw tooLarge("string", value.length);
    if (typeof value !== "object" || value === null || seen.has(value)) continue;
    seen.add(value);
    if (value instanceof ArrayBuffer) {
      if (value.byteLength > limit) throw tooLarge("buffer", value.byteLength);
    } else if (ArrayBuffer.isView(value)) pending.push(value.buffer);
    else if (value instanceof Map) pending.push(...value.keys(), ...value.values());
    else if (value instanceof Set) pending.push(...value);
    else if (!(value instanceof String)) pending.push(...Object.values(value));
    if (pending.length > 50 * limit + 1000) throw tooLarge("graph", pending.length);
  }
}

function tooLarge(what: string, size: number): Error {
  return new Error(`A ${what} of ${size} from fewer bytes.`);
}

function check<Value>(arbitrary: fc.Arbitrary<Value>, each: (value: Value) => void): void {
  fc.assert(fc.property(arbitrary, each), { seed, numRuns: RUNS });
}

/** Encoded argument lists of moderate size, and how many values each has. */
const encodings = argumentLists.map((list) => ({ bytes: encode(list), count: list.length }))
  .filter(({ bytes }) => bytes.length <= 8192);

/** Values of every kind there is, small, for the systematic damage. */
function specimens(): unknown[][] {
  const buffer = new ArrayBuffer(16);
  const resizable = new ArrayBuffer(8, { maxByteLength: 16 });
  const shared = { a: 1 };
  const circle: unknown[] = [];
  circle.push(circle);
  return [
    [1, -0.5, "text", "é", "中", "x".repeat(100), "é".repeat(100), "中".repeat(100), "\ud800"],
    [1n, 2n ** 70n, -(2n ** 500n), true, false, null, undefined],
    [{ a: 1, b: "two", c: [1, 2, 3] }, { a: 2, b: "three", c: [0.5] }, { "__proto__x": {} }],
    [[1, 2, 3, 4, 5, 6, 7, 8], [1.5, 2.5, 3.5], [1, "a", null, { b: 2 }], [1, , 3], new Array(9)],
    [Object.assign([1, 2], { extra: "x" }), Object.assign([1, , "2"], { "-1": 3 })],
    [new Map<unknown, unknown>([["a", 1], [{ k: 1 }, "b"]]), new Set([1, "a", [2]])],
    [new Date(5), /a+b/giu, Object(1), Object("boxed"), Object(true), Object(5n)],
    [buffer, new Uint8Array(buffer, 4, 8), new Float64Array(buffer), new DataView(buffer, 3, 5)],
    [resizable, new Uint16Array(resizable), new Uint8Array(resizable, 2, 4), new Uint8Array(50)],
    [shared, shared, [shared, { shared }], circle],
    [Array.from({ length: 10 }, (_, id) => ({ id, name: `n${id}`, at: id / 2 }))],
    [Object.fromEntries(Array.from({ length: 80 }, (_, key) => [`key${key}`, key]))],
    [new Error("e", { cause: new TypeError("t") }), new AggregateError([new RangeError("r")], "a")],
    [Buffer.from("abc"), [Buffer.from("abc")], Symbol.for("x")],
  ];
}

const encodedSpecimens = specimens().map((list) => ({ bytes: encode(list), count: list.length }));

/** A copy with room for words of eight bytes to be written anywhere. */
function damaged(bytes: Uint8Array, damage: (view: DataView) => void): Uint8Array {
  const copy = bytes.slice();
  damage(new DataView(copy.buffer));
  return copy;
}

describe(`bytes not written by the encoder, seed ${seed}`, { timeout: TIMEOUT_MS }, () => {
  test("random bytes", () => {
    check(
      fc.tuple(fc.uint8Array({ maxLength: 256 }), fc.nat(3)),
      ([bytes, count]) => feed(bytes, count),
    );
  });

  test("small random words that resemble tags and lengths", () => {
    const word = fc.oneof(fc.nat(40), fc.nat(70_000), fc.constantFrom(...wildWords));
    check(fc.array(word, { maxLength: 64 }), (words) => {
      feed(new Uint8Array(new Int32Array(words).buffer), 1);
    });
  });

  test("flipped bits", () => {
    const flips = fc.array(fc.nat(0xffff), { minLength: 1, maxLength: 4 });
    check(fc.tuple(encodings, flips), ([{ bytes, count }, places]) => {
      feed(
        damaged(bytes, (view) => {
          for (const place of places) {
            const at = (place >> 3) % Math.max(1, view.byteLength);
            if (view.byteLength > 0) view.setUint8(at, view.getUint8(at) ^ (1 << (place & 7)));
          }
        }),
        count,
      );
    });
  });

  test("truncated encodings with too large a value count", () => {
    check(fc.tuple(encodings, fc.nat(0xffff), fc.nat(2)), ([{ bytes, count }, length, more]) => {
      feed(bytes.slice(0, length % (bytes.length + 1)), count + more);
    });
  });

  test("spliced from two encodings", () => {
    const cut = fc.nat(0xffff);
    check(fc.tuple(encodings, encodings, cut, cut), ([one, other, end, start]) => {
      const head = one.bytes.subarray(0, (end % (one.bytes.length + 1)) & ~7);
      const tail = other.bytes.subarray((start % (other.bytes.length + 1)) & ~7);
      const spliced = new Uint8Array(head.length + tail.length);
      spliced.set(head);
      spliced.set(tail, head.length);
      feed(spliced, one.count);
    });
  });

  test("bytes around the encoding are not read", () => {
    check(fc.tuple(encodings, fc.nat(255)), ([{ bytes, count }, noise]) => {
      const around = new Uint8Array(bytes.length + 128).fill(noise);
      around.set(bytes, 64);
      const within = around.subarray(64, 64 + bytes.length);
      expect(differences(decode(within, count), decode(bytes, count))).toEqual([]);
    });
  });

  test("intact encodings still decode afterwards", () => {
    for (const { bytes, count } of encodedSpecimens) {
      expect(decode(bytes, count)).toHaveLength(count);
    }
  });
});

describe("each word of each specimen replaced by extreme values", { timeout: TIMEOUT_MS }, () => {
  for (const [index, { bytes, count }] of encodedSpecimens.entries()) {
    test(`specimen ${index}, ${bytes.length} bytes`, () => {
      const before = process.memoryUsage().rss;
      // Long texts and buffers are alike in the middle: every word of the start, samples after it.
      const random = createRandom(seed + index);
      for (let at = 0; at + 4 <= bytes.length; at += 4) {
        if (at > 1024 && random() > 0.1) continue;
        for (const word of wildWords) {
          feed(damaged(bytes, (view) => view.setInt32(at, word, true)), count);
        }
        if (at % 8 !== 0 || at + 8 > bytes.length) continue;
        for (const double of wildDoubles) {
          feed(damaged(bytes, (view) => view.setFloat64(at, double, true)), count);
        }
      }
      expect(process.memoryUsage().rss - before).toBeLessThan(MAX_GROWTH);
    });
  }
});

test("prototypes are not polluted", () => {
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(Object.keys(Array.prototype)).toEqual([]);
  expect(({} as Record<string, unknown>)["a"]).toBeUndefined();
});
