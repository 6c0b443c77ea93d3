/** Kinds of values that features add: this file attaches them one after another, to a codec that knows the ordinary kinds. */
import { beforeAll, describe, expect, test } from "vitest";
import { pack, unpack } from "../../../src/codec/codec.ts";
import { useValues } from "../../../src/codec/feature.ts";
import { rareValues } from "../../../src/features/values/rare/rare-values.ts";
import { readersLater } from "../../../src/features/values/rare/rare-tags.ts";
import { valueReaders } from "../../../src/features/values/rare/rare-values.ts";
import { Envelope } from "../../../src/features/values/rare/kinds/wrappers.ts";
import {
  markCallback,
  writeCallback,
} from "../../../src/features/calls/requests/callback-value.ts";
import {
  StreamArgument,
  writeStreamArgument,
} from "../../../src/features/calls/streams/sources/stream-argument.ts";
import { DataCloneError, ProtocolError } from "../../../src/errors.ts";
import { STREAM, VALUE_HEADER_BYTES } from "../../../src/codec/tags.ts";
import { currentRuntime } from "../../../src/runtimes/current.ts";

class Point {
  readonly x = 1;
}

const ordinary: readonly unknown[] = [
  { a: [1, "b", null, undefined, 1n, true], c: { d: 1.5 } },
  new Map([["a", new Set([{ b: 1 }])]]),
  [new Date(5), Object.create(null), new Uint8Array([1, 2])],
  new TypeError("an error", { cause: { a: 1 } }),
];
const rare: readonly unknown[] = [
  /a/g,
  Object("boxed"),
  Symbol.for("heddle.test"),
  new Envelope({ a: 1 }, 2),
  new Point(),
  new (class {})(),
];

const write = (value: unknown): Uint8Array<ArrayBuffer> => pack(currentRuntime, value)!;
const roundTrip = (value: unknown): unknown => unpack(currentRuntime, write(value));

/** The sizes of records do not depend on features. */
let lengths: readonly number[];
let encodedPattern: Uint8Array<ArrayBuffer>;

describe("without features", () => {
  test("ordinary values arrive", () => {
    for (const value of ordinary) expect(roundTrip(value)).toEqual(value);
    lengths = ordinary.map((value) => write(value).length);
  });

  test.each(rare)("%o is refused, whatever contains it", (value) => {
    for (const whole of [value, [{ value }], new Map([[1, value]])]) {
      expect(() => write(whole)).toThrow(DataCloneError);
      expect(() => write(whole)).toThrow("no feature of its pool sends values of this kind");
    }
  });

  test("functions and proxies are refused as ever", () => {
    expect(() => write({ f: () => {} })).toThrow(/functions cannot be cloned\. Pass data/);
    expect(() => write({ p: new Proxy({}, {}) })).toThrow(/proxies cannot be cloned/);
  });

  test("an error arrives without its rare parts", () => {
    const error = Object.assign(new Error("an error"), { pattern: /a/, kept: 1 });
    expect({ ...roundTrip(error) as object }).toEqual({ kept: 1 });
  });
});

describe("with rare values", () => {
  beforeAll(() => {
    useValues(rareValues);
    useValues(rareValues);
    encodedPattern = write(/a/g);
  });

  test("they arrive, and ordinary values take the same bytes", () => {
    for (const value of rare.slice(0, 3)) expect(roundTrip(value)).toEqual(value);
    expect(roundTrip(new Envelope({ a: 1 }, 2))).toBeInstanceOf(Envelope);
    expect(roundTrip([new Point(), new Point()])).toEqual([{ x: 1 }, { x: 1 }]);
    expect(ordinary.map((value) => write(value).length)).toEqual(lengths);
  });

  test("an unknown tag is damage", () => {
    const bytes = encodedPattern.slice();
    bytes[0] = 200;
    expect(() => unpack(currentRuntime, bytes)).toThrow(ProtocolError);
  });

  test("errors name the place of a value", () => {
    expect(() => write({ user: { onClick: () => {} } })).toThrow(/^\.user\.onClick cannot be/);
  });

  test("wrappers of other features are left to these", () => {
    const stream = new StreamArgument(3, true);
    const f = (): void => {};
    markCallback(f, f);
    expect(() => write([stream])).toThrow(/no feature of its pool sends values of this kind/);
    useValues({ name: "streams", writeValue: writeStreamArgument });
    useValues({ name: "requests", writeValue: writeCallback });
    expect(write(stream)[VALUE_HEADER_BYTES]).toBe(STREAM);
    expect(() => write([f])).toThrow(/functions cannot be cloned\. Pass data/);
    expect(roundTrip(new Point())).toEqual({ x: 1 });
  });
});

test("each rare value has a reader that is loaded later", () => {
  expect(Object.keys(readersLater(() => valueReaders))).toEqual(Object.keys(valueReaders));
});
