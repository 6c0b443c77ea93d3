/** What surrounds a program: other copies of the library, extended prototypes, output, processes that end. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestPool, type TestPool } from "../fixtures/tasks.ts";
import { rejection, testPool } from "../support/conformance.ts";
import { createRandom, seedOfRun } from "../support/random.ts";

const cyclic: { self?: unknown; list: unknown[] } = { list: [] };

cyclic.self = cyclic;

cyclic.list.push(cyclic);

const sparse: unknown[] = [1];

sparse[2] = 3;

const shared = { shared: true };

/** Values that arrive as `structuredClone` makes them, whichever way they travel. */
const values: Record<string, unknown> = {
  "zero": 0,
  "negative zero": -0,
  "NaN": NaN,
  "Infinity": -Infinity,
  "fraction": 0.1,
  "true": true,
  "null": null,
  "undefined": undefined,
  "bigint": 2n ** 100n,
  "small bigint": -5n,
  "empty string": "",
  "ASCII": "hello",
  "long ASCII": "x".repeat(10_000),
  "Latin-1": "déjà vu",
  "long Latin-1": "é".repeat(1000),
  "two-byte": "Привет 中文",
  "long two-byte": "中".repeat(5000),
  "emoji": "😀".repeat(300),
  "lone surrogates": "a\ud800b\udc00".repeat(50),
  "byte order mark": "\ufeffabc",
  "large string": "large ".repeat(1_000_000),
  "large two-byte string": "больше".repeat(400_000),
  "object": { a: 1, b: "two", c: [3, { d: null }], e: undefined },
  "array with holes": sparse,
  "array with extra keys": Object.assign([1, 2], { extra: "x" }),
  "nested NaN and undefined": { a: NaN, b: [undefined, -0] },
  "Map": new Map<unknown, unknown>([["a", 1], [{ k: 1 }, new Map()]]),
  "Set": new Set([1, "a", { b: 2 }]),
  "Date": new Date(12345),
  "invalid Date": new Date(NaN),
  "RegExp": /a+(?<name>b)/giu,
  "boxed": [new Number(1), new String("s"), new Boolean(false), Object(1n)],
  "cyclic": cyclic,
  "shared reference": [shared, shared],
  "null prototype": Object.assign(Object.create(null) as object, { a: 1 }),
  "__proto__ as a key": JSON.parse('{"__proto__": {"polluted": true}, "a": 1}'),
  "typed arrays in an object": { f: new Float64Array([1, 2]), b: new Uint8Array([3]) },
  "Float32Array": new Float32Array([1.5, NaN, -0]),
  "BigInt64Array": new BigInt64Array([1n, -1n]),
  "Uint8ClampedArray": new Uint8ClampedArray([300, 4]),
  "view on a larger buffer": new Uint16Array(new ArrayBuffer(32), 4, 6),
  "DataView": new DataView(new ArrayBuffer(16), 3, 5),
  "ArrayBuffer": new Uint8Array([1, 2, 3]).buffer,
  "empty typed array": new Int32Array(0),
  "1 MiB of bytes": new Uint8Array(1 << 20).fill(1),
  "10 MB of bytes": new Uint8Array(10_000_000).fill(9),
  "resizable buffer": new ArrayBuffer(8, { maxByteLength: 64 }),
  "class instance": new (class Point {
    x = 1;
    get hidden() {
      return 2;
    }
  })(),
};

/** Deep comparison that also tells prototypes, holes, -0 and identities apart. */
function expectSame(actual: unknown, expected: unknown, seen = new Map<unknown, unknown>()): void {
  if (typeof expected !== "object" || expected === null) {
    expect(Object.is(actual, expected)).toBe(true);
    return;
  }
  if (seen.has(expected)) {
    expect(actual).toBe(seen.get(expected));
    return;
  }
  seen.set(expected, actual);
  expect(Object.prototype.toString.call(actual)).toBe(Object.prototype.toString.call(expected));
  expect(Object.getPrototypeOf(actual)).toBe(Object.getPrototypeOf(expected));
  if (ArrayBuffer.isView(expected)) {
    const view = actual as ArrayBufferView;
    expect([view.byteOffset, view.byteLength]).toEqual([expected.byteOffset, expected.byteLength]);
    expectSame(view.buffer, expected.buffer, seen);
    return;
  }
  if (expected instanceof ArrayBuffer) {
    const buffer = actual as ArrayBuffer;
    expect([buffer.byteLength, buffer.resizable, buffer.maxByteLength]).toEqual([
      expected.byteLength,
      expected.resizable,
      expected.maxByteLength,
    ]);
    expect(Buffer.compare(Buffer.from(buffer), Buffer.from(expected))).toBe(0);
    return;
  }
  if (expected instanceof Map || expected instanceof Set) {
    expectSame([...(actual as Map<unknown, unknown>)], [...expected], seen);
    return;
  }
  if (expected instanceof Date) expectSame((actual as Date).getTime(), expected.getTime());
  if (expected instanceof RegExp) expect(String(actual)).toBe(String(expected));
  if (/Number|String|Boolean|BigInt/.test(Object.prototype.toString.call(expected))) {
    expectSame((actual as object).valueOf(), (expected as object).valueOf(), seen);
  }
  expect(Object.keys(actual as object)).toEqual(Object.keys(expected));
  for (const key of Object.keys(expected)) {
    expectSame(
      (actual as Record<string, unknown>)[key],
      (expected as Record<string, unknown>)[key],
      seen,
    );
  }
}

describe("values arrive as structuredClone would copy them", () => {
  /** One pool for all values: what one leaves behind would show in the next. */
  let pool: TestPool;
  beforeAll(() => {
    pool = createTestPool();
  });
  afterAll(() => pool.shutdown());

  for (const [name, value] of Object.entries(values)) {
    test(name, async () => {
      const { call } = pool;
      const expected = structuredClone(value);
      expectSame(await call.echo(value), expected);
      expectSame(await call.asyncEcho(value), expected);
      expectSame(await call.echoAll(1, value, "x"), structuredClone([1, value, "x"]));
    });
  }

  test("identity between arguments is kept", async () => {
    const { call } = testPool();
    const object = { a: 1 };
    const buffer = new ArrayBuffer(8);
    expect(await call.isSame(object, object)).toBe(true);
    expect(await call.isSame(buffer, buffer)).toBe(true);
    expect(await call.isSame({}, {})).toBe(false);
    const [one, two] = await call.echoAll(new Uint8Array(buffer), new Uint16Array(buffer)) as [
      Uint8Array,
      Uint16Array,
    ];
    expect(one.buffer).toBe(two.buffer);
  });
});

describe("extensions", () => {
  test("Buffer stays a Buffer", async () => {
    const { call } = testPool();
    for (const buffer of [Buffer.from("abc"), Buffer.alloc(0), Buffer.alloc(2_000_000, 5)]) {
      const arrived = await call.echo(buffer) as Buffer;
      expect(Buffer.isBuffer(arrived)).toBe(true);
      expect(arrived.equals(buffer)).toBe(true);
      expect(arrived.buffer.byteLength).toBe(buffer.length);
    }
  });

  test("errors keep class, cause and own properties", async () => {
    const { call } = testPool();
    const error = Object.assign(new TypeError("t", { cause: new RangeError("r") }), { code: "C" });
    const arrived = await call.echo(error) as typeof error;
    expect(arrived).toBeInstanceOf(TypeError);
    expect(arrived.cause).toBeInstanceOf(RangeError);
    expect([arrived.message, arrived.code, arrived.stack]).toEqual(["t", "C", error.stack]);
  });
});

test("a SharedArrayBuffer is shared, not copied", async () => {
  const { call } = testPool();
  const buffer = new SharedArrayBuffer(16);
  const view = new Int32Array(buffer);
  const arrived = await call.echo(buffer) as SharedArrayBuffer;
  view[0] = 42;
  expect(new Int32Array(arrived)[0]).toBe(42);
  const arrivedView = await call.echo(view) as Int32Array;
  view[1] = 43;
  expect(arrivedView[1]).toBe(43);
});

test("arguments are encoded when the call is made", async () => {
  const { call } = testPool();
  const object = { a: 1 };
  const bytes = new Uint8Array([1, 2, 3]);
  const calls = [call.echo(object), call.echo(bytes)]; // no worker is ready yet
  object.a = 2;
  bytes[0] = 9;
  expect(await Promise.all(calls)).toEqual([{ a: 1 }, new Uint8Array([1, 2, 3])]);
});

describe("many large calls", () => {
  /** Numbers and booleans in turn are not packed, so that they are written part by part. */
  const parts = (length: number, n: number): unknown[] =>
    Array.from({ length }, (_, index) => index % 2 === 0 ? n : index % 3 === 0);

  test.each(["echo", "asyncEcho"] as const)(
    "%s: more concurrent values than the rings hold arrive",
    async (task) => {
      const { call } = testPool();
      const random = createRandom(seedOfRun());
      for (let round = 0; round < 4; round++) {
        const values = Array.from(
          { length: 60 },
          (_, n) => parts(1000 + Math.floor(random() * 60_000), n),
        );
        const answers = await Promise.all(values.map((value) => call[task](value)));
        for (const [n, value] of values.entries()) {
          const answer = answers[n] as unknown[];
          expect(answer.length).toBe(value.length);
          expect(answer.findIndex((part, index) => part !== value[index])).toBe(-1);
        }
      }
    },
  );
});

describe("refusals", () => {
  test("an uncloneable value rejects only its own call", async () => {
    const { call } = testPool();
    const fine = call.sleep(20, "fine");
    for (const bad of [() => {}, Symbol("s"), new WeakMap(), { f: () => {} }]) {
      expect(await rejection(call.echo(bad))).toMatchObject({
        name: "DataCloneError",
        code: "HEDDLE_DATA_CLONE",
      });
    }
    expect(await rejection(call.returnFunction())).toMatchObject({
      name: "DataCloneError",
      code: "HEDDLE_DATA_CLONE",
    });
    expect(await rejection(call.returnGetter())).toBeInstanceOf(URIError);
    expect(await fine).toBe("fine");
  });

  test("a throwing getter rejects the call with its error", async () => {
    const { call } = testPool();
    const bad = {
      get field(): never {
        throw new RangeError("mine");
      },
    };
    expect(await rejection(call.echo(bad))).toBeInstanceOf(RangeError);
    expect(await call.add(1, 1)).toBe(2);
  });

  test("a getter may call the pool", async () => {
    const { call } = testPool();
    let inner: Promise<unknown> | undefined;
    const value = {
      before: 1,
      get field() {
        inner ??= call.echo({ from: "inside" });
        return 2;
      },
      after: 3,
    };
    expect(await call.echo(value)).toEqual({ before: 1, field: 2, after: 3 });
    expect(await inner).toEqual({ from: "inside" });
  });

  test("a getter may close the pool", async () => {
    const pool = testPool();
    await pool.ready;
    const value = {
      get field() {
        void pool.shutdown(0);
        return 1;
      },
    };
    const call = pool.call.echo(value);
    await expect(Promise.race([call, pool.shutdown().then(() => call)])).rejects.toMatchObject({
      code: "HEDDLE_POOL_CLOSED",
    });
  });
});

test("a CryptoKey arrives as the first value of a worker", async () => {
  const { call } = testPool({ threads: 1 });
  const algorithm = { name: "AES-GCM", length: 128 };
  const key = await crypto.subtle.generateKey(algorithm, true, ["encrypt"]);
  const arrived = await call.echo(key) as CryptoKey;
  expect(await crypto.subtle.exportKey("raw", arrived)).toEqual(
    await crypto.subtle.exportKey("raw", key),
  );
});
