import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type {
  Field,
  Fields,
  OptionalField,
  Struct,
} from "../../../../src/features/values/structs/schema/field-types.ts";
import { codecOf, isStruct } from "../../../../src/features/values/structs/schema/shape-of.ts";
import { located } from "../../../../src/features/values/structs/codec/mismatch.ts";
import {
  Output,
  type StructWriter,
} from "../../../../src/features/values/structs/schema/output.ts";
import {
  array,
  bool,
  bytes,
  f32,
  f64,
  i16,
  i32,
  i64,
  i8,
  optional,
  struct,
  u16,
  u32,
  u64,
  u8,
  utf8,
} from "../../../../src/features/values/structs/schema/schema.ts";
import { TextWindow } from "../../../../src/features/values/structs/codec/text-window.ts";
import { BorrowExpiredError, StructError } from "../../../../src/errors.ts";
import {
  revokeView,
  viewToObject,
} from "../../../../src/features/values/structs/codec/views/record-view.ts";
import { HeddleError, InvalidArgumentError, ProtocolError } from "../../../../src/errors.ts";
import { type Memory, viewMemory } from "../../../../src/memory/views.ts";
import { currentRuntime } from "../../../../src/runtimes/current.ts";
import { capabilities, runCode } from "../../../support/runtime.ts";

const { text } = currentRuntime;
const START = 16;

/** Moves to a fresh memory, at another offset, whenever it is asked for more than it has. */
class MovingWriter implements StructWriter {
  readonly access = currentRuntime;
  memory: Memory = viewMemory(new SharedArrayBuffer(START));
  moves = 0;
  /** Where the struct started is now this much further on. */
  shift = 0;

  room(at: number, bytes: number): number {
    if (at + bytes <= this.memory.u8.length) return at;
    const step = this.moves % 2 === 0 ? 24 : -24;
    // Exactly what was asked for: writing beyond it is lost, and noticed.
    const next = viewMemory(new SharedArrayBuffer(Math.ceil((at + bytes + step) / 8) * 8));
    next.u8.fill(0xa5);
    next.u8.set(this.memory.u8.subarray(Math.max(0, -step), at), Math.max(0, step));
    this.memory = next;
    this.moves++;
    this.shift += step;
    return at + step;
  }
}

function write(schema: Struct<Fields>, value: unknown): [MovingWriter, number] {
  const writer = new MovingWriter();
  try {
    const end = codecOf(schema).write(new Output(writer), START, value);
    expect(end % 8).toBe(0);
    return [writer, end];
  } catch (error) {
    throw located(error, "args[0]");
  }
}

/** What arrives for `value`, read as a copy and by views, which must agree. */
function roundTrip(schema: Struct<Fields>, value: unknown): unknown {
  const [writer, end] = write(schema, value);
  const at = START + writer.shift;
  const codec = codecOf(schema);
  const copy = codec.read(writer.memory, text, at, end);
  expect(codec.end).toBe(end);
  const view = codec.view(writer.memory, text, at, end) as object;
  expect(viewToObject(view)).toStrictEqual(copy);
  expect(plain(view, schema)).toStrictEqual(copy);
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  return copy;
}

type AnyView = Record<string, unknown> & { copy?: () => Uint8Array } & Iterable<unknown>;

/** A plain value put together from what a view's getters and elements say. */
function plain(view: unknown, field: Field): unknown {
  const each = view as AnyView;
  if (field.kind === "bytes") return each.copy!();
  if (field.kind === "array") {
    return [...each].map((element) => plain(element, (field as unknown as { of: Field }).of));
  }
  if (field.kind !== "struct") return view;
  const fields = Object.entries((field as Struct<Fields>).fields);
  return Object.fromEntries(
    fields.map(([key, of]) => {
      const inner = of.kind === "optional" ? (of as OptionalField<Field>).of : of as Field;
      const value = each[key];
      return [key, value === undefined ? undefined : plain(value, inner)] as const;
    }).filter(([, value]) => value !== undefined),
  );
}

/** The error of writing `value`. */
function misfit(schema: Struct<Fields>, value: unknown): StructError {
  try {
    write(schema, value);
  } catch (error) {
    expect(error).toBeInstanceOf(StructError);
    return error as StructError;
  }
  throw new Error("It was accepted.");
}

const one = (field: Field) => struct({ v: field });
const valueOf = (field: Field, value: unknown) =>
  (roundTrip(one(field), { v: value }) as { v: unknown }).v;

describe("numbers", () => {
  const doubles = [0, -0, 1, -1, 0.1, NaN, Infinity, -Infinity, Number.MAX_VALUE, 5e-324, 2 ** 31];

  test.each(doubles)("f64 and f32 %s", (value) => {
    expect(valueOf(f64, value)).toBe(value);
    expect(valueOf(f32, value)).toBe(Math.fround(value));
  });

  test.each(
    [
      [i8, -128, 127],
      [u8, 0, 255],
      [i16, -32768, 32767],
      [u16, 0, 65535],
      [i32, -(2 ** 31), 2 ** 31 - 1],
      [u32, 0, 2 ** 32 - 1],
    ] as const,
  )("$kind accepts exactly its range", (field, least, greatest) => {
    for (const value of [least, least + 1, 0, 1, greatest - 1, greatest]) {
      expect(valueOf(field, value)).toBe(value);
    }
    expect(valueOf(field, -0)).toBe(0);
    const outside = [least - 1, greatest + 1, 0.5, NaN, Infinity, 2 ** 53, -(2 ** 53)];
    for (const value of [...outside, 1n, "1", true, null, undefined, [], {}, Symbol("s")]) {
      const error = misfit(one(field), { v: value });
      expect(error.path).toBe("args[0].v");
      expect(error.expected).toBe(`a whole number from ${least} to ${greatest} (${field.kind})`);
    }
  });

  test("i64 and u64 accept exactly their range", () => {
    const signed = [0n, -1n, 1n, 2n ** 63n - 1n, -(2n ** 63n)];
    for (const value of signed) expect(valueOf(i64, value)).toBe(value);
    for (const value of [0n, 1n, 2n ** 63n, 2n ** 64n - 1n]) {
      expect(valueOf(u64, value)).toBe(value);
    }
    for (const value of [2n ** 63n, -(2n ** 63n) - 1n, 1, "1"]) misfit(one(i64), { v: value });
    for (const value of [2n ** 64n, -1n, 1, undefined]) misfit(one(u64), { v: value });
  });

  test("numbers are not converted with valueOf", () => {
    const value = {
      valueOf() {
        throw new Error("ran");
      },
    };
    for (const field of [f64, f32, i8, u8, i16, u16, i32, u32, i64, u64, bool]) {
      expect(misfit(one(field), { v: value }).got).toBe("an object");
    }
  });

  test("bool", () => {
    expect(valueOf(bool, true)).toBe(true);
    expect(valueOf(bool, false)).toBe(false);
    for (const value of [0, 1, "true", null, undefined]) misfit(one(bool), { v: value });
  });
});

describe("text and bytes", () => {
  const texts = [
    "",
    "a",
    "x".repeat(24),
    "x".repeat(25),
    "y".repeat(1000),
    "é",
    "aЖ中\uffff",
    "😀",
  ];
  const more = ["\ufeffb", "ä".repeat(100), `${"x".repeat(300)}😀`, "\u0000", "\u007f\u0080"];

  test.each([...texts, ...more])("%j", (value) => {
    expect(valueOf(utf8(), value)).toBe(value);
    const size = new TextEncoder().encode(value).length;
    for (const max of [size, size + 1, size + 8]) {
      if (max > 0) expect(valueOf(utf8(max), value)).toBe(value);
    }
    if (size < 2) return;
    const error = misfit(one(utf8(size - 1)), { v: value });
    expect(error.message).toBe(
      `args[0].v must be a string of at most ${size - 1} UTF-8 bytes (utf8), ` +
        `got a string of ${size} UTF-8 bytes.`,
    );
  });

  test("texts of every length fit exactly their reserved space", () => {
    for (let units = 1; units < 600; units += units < 80 ? 1 : 17) {
      for (const unit of ["я", "中", "😀", "aя", "א "]) {
        const value = unit.repeat(units);
        const size = new TextEncoder().encode(value).length;
        for (const field of [utf8(), utf8(size)]) expect(valueOf(field, value)).toBe(value);
        expect(misfit(one(utf8(size - 1)), { v: value }).got).toContain(`${size} UTF-8 bytes`);
      }
    }
  });

  test("a growable buffer that grows during encoding arrives with its first length", () => {
    const fields: [Field, new (buffer: SharedArrayBuffer) => ArrayLike<unknown>][] = [
      [bytes(), Uint8Array],
      [array(f64), Float64Array],
      [array(f32), Float32Array],
      [array(i32), Int32Array],
      [array(i16), Int16Array],
      [array(i64), BigInt64Array],
    ];
    for (const [field, View] of fields) {
      const buffer = new SharedArrayBuffer(16, { maxByteLength: 1 << 16 });
      class GrowingWriter extends MovingWriter {
        override room(at: number, size: number): number {
          if (at > START + 8) buffer.grow(1 << 16);
          return super.room(at, size);
        }
      }
      const writer = new GrowingWriter();
      const value = new View(buffer); // follows its buffer
      const { length } = value;
      const codec = codecOf(one(field));
      const end = codec.write(new Output(writer), START, { v: value });
      expect(buffer.byteLength).toBe(1 << 16);
      const read = codec.read(writer.memory, text, START + writer.shift, end) as { v: unknown[] };
      expect(read.v.length).toBe(length);
    }
  });

  test("lone surrogates are refused", () => {
    for (const value of ["\ud800", "a\udc00", `${"x".repeat(30)}\ud83d`, "\udc00\ud800"]) {
      for (const field of [utf8(), utf8(200)]) {
        const at = [...value].findIndex((unit) => unit >= "\ud800" && unit <= "\udfff");
        expect(misfit(one(field), { v: value }).got).toContain(`lone surrogate at ${at}`);
      }
    }
    for (const value of [1, null, undefined, ["a"], new String("a")]) {
      misfit(one(utf8()), { v: value });
      misfit(one(utf8(9)), { v: value });
    }
  });

  test("many texts of every length arrive in one record", () => {
    const line = struct({
      name: utf8(),
      code: utf8(12),
      data: bytes(),
      note: optional(utf8()),
      n: f64,
    });
    const schema = struct({ title: utf8(), lines: array(line), words: array(utf8()), end: utf8() });
    const text = (length: number, from: number): string =>
      String.fromCharCode(...Array.from({ length }, (_, unit) => 32 + (from + unit) % 95));
    for (const longest of [8, 24, 70, 300, 3000]) {
      const value = {
        title: text(longest, 7),
        lines: Array.from({ length: 60 }, (_, index) => ({
          name: index % 9 === 4
            ? `\u00e9 ${text(index, 3)} \ud83d\ude00`
            : text((index * 37) % longest, index),
          code: text(index % 13, index),
          data: new Uint8Array(index % 5 === 0 ? (index * 29) % longest : 0).fill(0xe9),
          ...(index % 2 === 0 ? { note: text(index, 50) } : {}),
          n: index / 3,
        })),
        words: Array.from({ length: 200 }, (_, index) => text(index % 66, index)),
        end: "",
      };
      expect(roundTrip(schema, value)).toStrictEqual(value);
    }
  });

  test("the bytes read to decode strings are bounded by the strings' length", () => {
    const memory = viewMemory(new SharedArrayBuffer(1 << 20));
    memory.u8.fill(97);
    for (
      const [length, gap] of [[8, 0], [3, 5], [20, 4], [64, 100], [8, 300], [20, 2100]] as const
    ) {
      let read = 0;
      const counting = {
        ...text,
        readOneByte: (source: Uint8Array<SharedArrayBuffer>, start: number, end: number) => {
          read += end - start;
          return text.readOneByte(source, start, end);
        },
      };
      const window = new TextWindow();
      let count = 0;
      for (let at = 0; at < 400_000; at += length + gap) {
        if (!window.isPoor) {
          const cut = window.cut(counting, memory.u8, 400_000 + length, at, length);
          expect(cut).toBe("a".repeat(length));
        }
        count++;
      }
      expect(read).toBeLessThan(512 + 8 * count * Math.max(8, length));
      expect(window.isPoor).toBe(gap > 100);
    }
  });

  test("bytes", () => {
    for (const length of [0, 1, 7, 8, 9, 16, 1000]) {
      const value = new Uint8Array(length).map((_, index) => index * 7);
      for (const field of [bytes(), bytes(length + 1), ...(length > 0 ? [bytes(length)] : [])]) {
        const arrived = valueOf(field, value) as Uint8Array;
        expect(arrived).toEqual(value);
        expect(arrived.buffer).toBeInstanceOf(ArrayBuffer);
      }
      if (length > 1) expect(misfit(one(bytes(1)), { v: value }).got).toBe(`${length} bytes`);
    }
    expect(valueOf(bytes(), Buffer.from("abc"))).toEqual(new Uint8Array([97, 98, 99]));
    const shared = new Uint8Array(new SharedArrayBuffer(3)).fill(5);
    expect(valueOf(bytes(3), shared)).toEqual(new Uint8Array([5, 5, 5]));
    const part = new Uint8Array([1, 2, 3, 4]).subarray(1, 3);
    expect(valueOf(bytes(), part)).toEqual(new Uint8Array([2, 3]));
    const detached = new Uint8Array(4);
    structuredClone(detached.buffer, { transfer: [detached.buffer] });
    const wrong = [detached, [1], new Int8Array(1), new ArrayBuffer(1), "a", null, undefined];
    for (const value of [...wrong, Object.create(Uint8Array.prototype)]) {
      misfit(one(bytes()), { v: value });
      misfit(one(bytes(8)), { v: value });
    }
  });

  test("a subclass getter for the length is ignored", () => {
    class Lying extends Uint8Array {
      override get length(): number {
        return 1000;
      }
    }
    expect(valueOf(bytes(), new Lying([1, 2]))).toEqual(new Uint8Array([1, 2]));
    expect(valueOf(array(u8), new Lying([1, 2]))).toEqual([1, 2]);
  });
});

describe("arrays", () => {
  test("of numbers accept arrays and the matching typed array", () => {
    const kinds = [
      [f64, Float64Array, [0.5, -0, NaN, 3]],
      [f32, Float32Array, [0.5, -0, Infinity]],
      [i8, Int8Array, [-128, 127]],
      [u8, Uint8Array, [0, 255]],
      [i16, Int16Array, [-32768, 32767, 5]],
      [u16, Uint16Array, [0, 65535, 258]],
      [i32, Int32Array, [-(2 ** 31), 2 ** 31 - 1]],
      [u32, Uint32Array, [0, 2 ** 32 - 1]],
      [i64, BigInt64Array, [-(2n ** 63n), 2n ** 63n - 1n]],
      [u64, BigUint64Array, [0n, 2n ** 64n - 1n]],
    ] as const;
    for (const [field, constructor, values] of kinds) {
      const typed = (constructor as unknown as { from(values: readonly unknown[]): unknown })
        .from(values);
      for (const list of [array(field), array(field, 4), array(field, 9)]) {
        expect(valueOf(list, values)).toEqual(values);
        expect(valueOf(list, typed)).toEqual(values);
        expect(valueOf(list, [])).toEqual([]);
        misfit(one(list), {
          v: constructor === Float64Array ? new Int8Array(1) : new Float64Array(1),
        });
      }
      const codec = codecOf(struct({ v: array(field) }));
      const writer = new MovingWriter();
      const end = codec.write(new Output(writer), START, { v: values });
      const view = codec.view(writer.memory, text, START + writer.shift, end);
      expect(view.v.copy()).toEqual(typed);
    }
    misfit(one(array(bool)), { v: new Uint8Array(1) });
  });

  test("of fractions, integers and both arrive", () => {
    const odd = [-0, NaN, Infinity, -Infinity, 2 ** 31, -(2 ** 31), 2 ** 53, 5e-324];
    const lists = [[1, 2, 3], [0.5, 1, 2, -0], [1, 0.5, -0], [-0, 1], [NaN, 1], [2 ** 31, 7], odd];
    for (const list of [...lists, ...odd.map((first) => [first, ...odd]), []]) {
      expect(valueOf(array(f64), list)).toStrictEqual(list);
      expect(valueOf(array(f64, 9), list)).toStrictEqual(list);
    }
  });

  test("of structs, strings, bytes and arrays arrive", () => {
    const Point = struct({ x: f64, y: f64 });
    expect(valueOf(array(Point), [{ x: 1, y: 2 }, { x: 3, y: 4 }]))
      .toEqual([{ x: 1, y: 2 }, { x: 3, y: 4 }]);
    expect(valueOf(array(utf8()), ["", "a", "bé".repeat(50)])).toEqual(["", "a", "bé".repeat(50)]);
    expect(valueOf(array(utf8(5), 3), ["", "abcde"])).toEqual(["", "abcde"]);
    expect(valueOf(array(utf8(), 3), ["x", "yy"])).toEqual(["x", "yy"]);
    expect(valueOf(array(bytes()), [new Uint8Array([1])])).toEqual([new Uint8Array([1])]);
    expect(valueOf(array(array(u8)), [[], [1, 2], [3]])).toEqual([[], [1, 2], [3]]);
    expect(valueOf(array(array(array(f64), 2), 2), [[[1], []], []])).toEqual([[[1], []], []]);
    expect(valueOf(array(struct({})), [{}, {}])).toEqual([{}, {}]);
  });

  test("refuse other values, wrong lengths and wrong elements", () => {
    const schema = one(array(f64, 2));
    const got = (v: unknown) => misfit(schema, { v }).message.replace("args[0].v", "_");
    expect(got([1, 2, 3])).toBe(
      "_ must be an array or Float64Array of at most 2 elements (array of f64), got 3 elements.",
    );
    expect(got([1, , 2].slice(0, 2))) // oxlint-disable-line no-sparse-arrays -- holes are the point
      .toBe("_[1] must be a number (f64), got nothing (missing or undefined).");
    for (const v of [{ length: 1, 0: 1 }, "12", new Set([1]), new Array(3), null, undefined]) {
      got(v);
    }
    expect(misfit(one(array(array(u8))), { v: [[1], [2, 300]] }).path).toBe("args[0].v[1][1]");
    expect(misfit(one(array(one(utf8()))), { v: [{ v: "" }, { v: 1 }] }).path)
      .toBe("args[0].v[1].v");
    const endless = new Proxy([], { get: (_, key) => key === "length" ? -1 : 0 });
    expect(got(endless)).toContain("impossible length");
    const huge = new Proxy([], { get: (_, key) => key === "length" ? 2 ** 32 - 1 : 0 });
    expect(misfit(one(array(f64)), { v: huge }).message).toContain("small enough");
  });
});

const Address = struct({ street: utf8(), zip: u32, tags: array(utf8()) });
const User = struct({
  id: u32,
  active: bool,
  score: f32,
  big: i64,
  name: utf8(32),
  bio: utf8(),
  home: struct({ x: f64, y: f64 }),
  address: Address,
  samples: array(f64),
  few: array(i16, 3),
  friends: array(struct({ x: f64, y: f64 })),
  data: bytes(),
  key: bytes(5),
  email: optional(utf8(64)),
  second: optional(Address),
  level: optional(u8),
});
const user = {
  id: 7,
  active: true,
  score: 0.5,
  big: -5n,
  name: "Ada Ж",
  bio: "long ".repeat(50),
  home: { x: 1, y: -0 },
  address: { street: "here", zip: 1, tags: ["a", "", "bé"] },
  samples: [1.5, 2],
  few: [-1, 2],
  friends: [{ x: 1, y: 2 }, { x: 3, y: 4 }],
  data: new Uint8Array([1, 2, 3]),
  key: new Uint8Array([9]),
};

describe("structs", () => {
  test("all kinds of fields arrive in one struct", () => {
    expect(roundTrip(User, user)).toStrictEqual(user);
    const full = { ...user, email: "a@b", second: user.address, level: 0 };
    expect(roundTrip(User, full)).toStrictEqual(full);
  });

  test("an absent value reads back as an absent key", () => {
    const schema = struct({ a: optional(u8), b: optional(utf8()), c: u8 });
    for (const value of [{ c: 1 }, { a: undefined, b: undefined, c: 1 }]) {
      const arrived = roundTrip(schema, value);
      expect(Object.keys(arrived as object)).toEqual(["c"]);
    }
    expect(roundTrip(schema, { a: 0, c: 1 })).toStrictEqual({ a: 0, c: 1 });
    expect(roundTrip(schema, { b: "", c: 1 })).toStrictEqual({ b: "", c: 1 });
    misfit(schema, { a: null, c: 1 });
    expect(misfit(schema, { a: 300, c: 1 }).path).toBe("args[0].a");
    expect(roundTrip(struct({ a: optional(u8) }), {})).toStrictEqual({});
    misfit(struct({ a: optional(u8) }), []);
  });

  test("more optional fields than one presence word holds arrive", () => {
    const keys = Array.from({ length: 70 }, (_, index) => `k${index}`);
    const schema = struct(Object.fromEntries(keys.map((key) => [key, optional(u16)])));
    for (const chosen of [keys, [], ["k31"], ["k0", "k32", "k63", "k64", "k69"]]) {
      const value = Object.fromEntries(chosen.map((key, index) => [key, index]));
      expect(roundTrip(schema, value)).toStrictEqual(value);
    }
  });

  test("a mismatch is reported with its path", () => {
    const path = (change: object) => misfit(User, { ...user, ...change }).path;
    expect(path({ home: { x: "abc", y: 1 } })).toBe("args[0].home.x");
    expect(path({ address: { ...user.address, tags: ["a", 5] } })).toBe("args[0].address.tags[1]");
    expect(path({ second: { street: "", zip: -1, tags: [] } })).toBe("args[0].second.zip");
    expect(path({ friends: [user.home, { x: 1 }] })).toBe("args[0].friends[1].y");
    const error = misfit(User, { ...user, home: { x: "abc", y: 1 } });
    expect(error.message).toBe('args[0].home.x must be a number (f64), got "abc" (string).');
    expect([error.code, error.name, error.expected, error.got]).toEqual([
      "HEDDLE_STRUCT_MISMATCH",
      "StructError",
      "a number (f64)",
      '"abc" (string)',
    ]);
    expect(error).toBeInstanceOf(HeddleError);
    expect(misfit(struct({ "a b": u8 }), { "a b": "" }).path).toBe('args[0]["a b"]');
    for (const value of [null, undefined, 5, "x", () => {}, [], [1]]) misfit(User, value);
  });

  test("unknown keys are refused for every kind of object", () => {
    const schema = struct({ x: f64, y: optional(f64) });
    const error = misfit(schema, { x: 1, z: 2 });
    expect(error.message).toBe(
      "args[0].z must be absent (the struct has: x, y), got a key it does not have.",
    );
    misfit(schema, { x: 1, y: 2, z: undefined });
    misfit(schema, Object.assign(Object.create(null), { x: 1, z: 2 }));
    // As many keys as fields were found, by inheritance.
    expect(misfit(schema, Object.assign(Object.create({ x: 1 }), { z: 2 })).path).toBe("args[0].z");
    class Fancy {
      hidden = 1;
      get x(): number {
        return this.hidden;
      }
    }
    expect(misfit(schema, new Fancy()).path).toBe("args[0].hidden");
    class Honest {
      readonly x = 1;
      get double(): number {
        return 2 * this.x;
      }
    }
    expect(roundTrip(schema, new Honest())).toStrictEqual({ x: 1 });
    expect(roundTrip(schema, Object.assign(Object.create(null), { x: 1 }))).toStrictEqual({ x: 1 });
    expect(roundTrip(schema, Object.create({ inherited: 1 }, { x: { value: 1 } }))).toEqual({
      x: 1,
    });
    expect(roundTrip(schema, { y: 2, x: 1, [Symbol("s")]: 3 })).toStrictEqual({ x: 1, y: 2 });
  });

  test("inherited names can be field names", () => {
    const hostile = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"];
    const odd = ['"', "\\", "\u2028", "`${1}`", "a\nb", "*/", "", "0", "10", "\ud800", "toObject"];
    const keys = [...hostile, ...odd, "revoke", "return", "value", "at", "v0"];
    const schema = struct(Object.fromEntries(keys.map((key) => [key, u32])));
    const value = Object.fromEntries(keys.map((key, index) => [key, index]));
    const arrived = roundTrip(schema, value) as object;
    expect(Object.entries(arrived)).toEqual(Object.entries(value));
    expect(Object.getPrototypeOf(arrived)).toBe(Object.prototype);
    for (const key of keys) {
      const { [key]: _, ...rest } = value;
      const error = misfit(schema, Object.fromEntries(Object.entries(rest)));
      expect(error.got).toBe("nothing (missing or undefined)");
    }
    const optionals = struct(Object.fromEntries(keys.map((key) => [key, optional(u32)])));
    expect(Object.entries(roundTrip(optionals, value) as object)).toEqual(Object.entries(value));
    expect(roundTrip(optionals, {})).toStrictEqual({});
    expect(misfit(struct({ a: optional(u8) }), JSON.parse('{"__proto__": 1}')).path)
      .toBe("args[0].__proto__");
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("each getter runs once, and its error is passed on", () => {
    const ran: string[] = [];
    const counting = (object: Record<string, unknown>): Record<string, unknown> => {
      const copy = {};
      for (const [key, value] of Object.entries(object)) {
        const get = (): unknown => {
          ran.push(key);
          return value;
        };
        Object.defineProperty(copy, key, { get, enumerable: true });
      }
      return copy;
    };
    const value = counting({ ...user, home: counting(user.home), level: 3 });
    write(User, value);
    expect(ran.length).toBe(Object.keys(user).length + 3);
    expect(new Set(ran).size).toBe(ran.length);
    const failure = new Error("mine");
    const throwing = {
      get v(): number {
        throw failure;
      },
    };
    expect(() => write(one(f64), throwing)).toThrow(failure);
    expect(() => write(one(array(one(f64))), { v: [throwing] })).toThrow(failure);
  });

  test("errors of the writer are passed on", () => {
    const full = new Error("full");
    const writer: StructWriter = {
      memory: viewMemory(new SharedArrayBuffer(8)),
      access: currentRuntime,
      room: () => {
        throw full;
      },
    };
    expect(() => codecOf(User).write(new Output(writer), 0, user)).toThrow(full);
  });
});

describe("layout", () => {
  test("fixed-size fields are ordered by alignment without gaps", () => {
    const size = (fields: Fields) => codecOf(struct(fields)).fixedBytes;
    expect(size({})).toBe(8);
    expect(size({ a: u8 })).toBe(8);
    expect(size({ a: u8, b: f64, c: u8, d: u16, e: u32 })).toBe(16);
    expect(size({ a: u8, b: f64, c: u8, d: u16, e: u32, f: u8 })).toBe(24);
    expect(size({ a: utf8(32) })).toBe(40);
    expect(size({ a: utf8(), b: bytes(), c: array(f64) })).toBe(24);
    expect(size({ a: array(f64, 2) })).toBe(24);
    expect(size({ a: array(u8, 4) })).toBe(8);
    expect(size({ a: array(struct({ r: u8, g: u8, b: u8 }), 4) })).toBe(16);
    expect(size({ a: optional(u32) })).toBe(8);
    expect(codecOf(User).isFixed).toBe(false);
    expect(codecOf(struct({ a: utf8(4), b: array(struct({ c: f64 }), 3) })).isFixed).toBe(true);
  });

  test("a record can be copied to another position", () => {
    const [writer, end] = write(User, user);
    const at = START + writer.shift;
    const moved = viewMemory(new SharedArrayBuffer(end + 4096));
    moved.u8.set(writer.memory.u8.subarray(at, end), 1024);
    expect(codecOf(User).read(moved, text, 1024, 1024 + end - at)).toStrictEqual(user);
    expect(writer.moves).toBeGreaterThan(5);
  });
});

describe("schemas", () => {
  test("schemas are frozen and have one codec each", () => {
    for (const value of [User, User.fields, f64, utf8(3), optional(f64), array(f64)]) {
      expect(Object.isFrozen(value)).toBe(true);
    }
    expect(codecOf(User)).toBe(codecOf(User));
    expect([isStruct(User), isStruct(f64), isStruct({ kind: "struct" }), isStruct(null)])
      .toEqual([true, false, false, false]);
    expect(utf8(3)).toEqual({ kind: "utf8", max: 3 });
  });

  test("invalid arguments are refused", () => {
    const refuse = (make: () => unknown, message: string) => {
      expect(make).toThrow(InvalidArgumentError);
      expect(make).toThrow(message);
    };
    const loose = struct as (fields: unknown) => unknown;
    refuse(() => loose(null), "struct() needs an object of field types, got null");
    refuse(() => loose([f64]), "got an array");
    refuse(
      () => loose({ a: f64, b: 5 }),
      'struct() needs a field type for the key "b" such as f64, utf8() or a struct(), got 5 (number).',
    );
    refuse(() => loose({ a: { kind: "f64" } }), "got an object");
    refuse(() => loose({ a: utf8 }), "is it called");
    refuse(() => loose({ [Symbol("s")]: f64 }), "Symbol(s)");
    refuse(() => array(optional(f64) as never), "optional()");
    refuse(() => optional(optional(f64) as never), "optional()");
    refuse(() => array(undefined as never), "nothing");
    for (const max of [0, -1, 0.5, NaN, 2 ** 31, "3"]) {
      for (const make of [utf8, bytes, (most: number) => array(f64, most)]) {
        refuse(() => make(max as number), "takes a bound from 1 to");
      }
    }
    refuse(() => array(f64, 2 ** 30), "leave out a bound");
    refuse(() => struct({ a: utf8(2 ** 29), b: utf8(2 ** 29) }), "leave out a bound");
    refuse(() => codecOf(f64 as never), "A struct() is needed");
  });
});

describe("views", () => {
  const open = (schema: Struct<Fields>, value: unknown) => {
    const [writer, end] = write(schema, value);
    const at = START + writer.shift;
    return { view: codecOf(schema).view(writer.memory, text, at, end) as never, writer, at };
  };
  type UserView = ReturnType<ReturnType<typeof codecOf<typeof User>>["view"]>;

  test("views read from memory in place", () => {
    const { view, writer, at } = open(User, user);
    const shown: UserView = view;
    expect(shown.home.x).toBe(1);
    writer.memory.f64.fill(42, at >> 3, (at >> 3) + 3);
    expect(shown.home.x).toBe(42);
    expect([shown.name, shown.email, shown.level]).toEqual([user.name, undefined, undefined]);
    expect(shown.friends.length).toBe(2);
    expect(shown.friends.at(-1)!.toObject()).toStrictEqual({ x: 3, y: 4 });
    expect([shown.friends.at(2), shown.friends.at(-3)]).toEqual([undefined, undefined]);
    expect(shown.samples.at(0)).toBe(1.5);
    expect(shown.samples.at(1.9)).toBe(2);
    expect([...shown.samples]).toEqual([1.5, 2]);
    expect(shown.address.tags.toArray()).toEqual(["a", "", "bé"]);
    expect(shown.data.copy()).toEqual(user.data);
    expect([...shown.key]).toEqual([9]);
    expect(shown.address.toObject()).toStrictEqual(user.address);
  });

  test("views of one record expire together", () => {
    const { view } = open(User, user);
    const shown: UserView = view;
    const { home, friends, address, data } = shown;
    const elements = friends[Symbol.iterator]();
    elements.next();
    const friend = friends.at(0)!;
    shown.revoke();
    shown.revoke();
    const accesses = [
      () => shown.id,
      () => shown.email,
      () => shown.home,
      () => shown.toObject(),
      () => viewToObject(shown),
      () => home.x,
      () => friend.y,
      () => friends.length,
      () => friends.at(0),
      () => friends.toArray(),
      () => [...friends],
      () => elements.next(),
      () => address.tags,
      () => data.copy(),
    ];
    expect(new BorrowExpiredError().code).toBe("HEDDLE_BORROW_EXPIRED");
    for (const access of accesses) {
      expect(access).toThrow(BorrowExpiredError);
    }
  });

  test("fields may have the names of view methods", () => {
    const schema = struct({ toObject: u8, revoke: utf8(), constructor: u8 });
    const value = { toObject: 1, revoke: "r", constructor: 2 };
    const shown = open(schema, value).view as Record<string, unknown>;
    expect({ toObject: shown["toObject"], revoke: shown["revoke"] })
      .toEqual({ toObject: 1, revoke: "r" });
    expect(viewToObject(shown)).toStrictEqual(value);
    revokeView(shown);
    expect(() => shown["toObject"]).toThrow(BorrowExpiredError);
  });
});

describe("any schema and any value (property)", () => {
  const numeric: [Field, fc.Arbitrary<unknown>][] = [
    [f64, fc.double()],
    [f32, fc.float()],
    [i8, fc.integer({ min: -128, max: 127 })],
    [u8, fc.integer({ min: 0, max: 255 })],
    [i16, fc.integer({ min: -32768, max: 32767 })],
    [u16, fc.integer({ min: 0, max: 65535 })],
    [i32, fc.integer()],
    [u32, fc.integer({ min: 0, max: 2 ** 32 - 1 })],
    [i64, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })],
    [u64, fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })],
    [bool, fc.boolean()],
  ];
  const string = fc.string({ unit: "binary", maxLength: 60 });
  const data = fc.uint8Array({ maxLength: 40 });
  const leaves: [Field, fc.Arbitrary<unknown>][] = [
    ...numeric.map(([field, arbitrary]): [Field, fc.Arbitrary<unknown>] => [
      field,
      arbitrary.map((value) => Object.is(value, -0) && field !== f64 && field !== f32 ? 0 : value),
    ]),
    [utf8(), string],
    [utf8(240), string],
    [bytes(), data],
    [bytes(40), data],
  ];
  type Case = [Field, fc.Arbitrary<unknown>];
  const caseOf = (depth: number): fc.Arbitrary<Case> => {
    const leaf = fc.constantFrom(...leaves);
    if (depth === 0) return leaf;
    const inner = caseOf(depth - 1);
    const arrays = inner.chain(([field, values]) =>
      fc.boolean().map((isBounded): Case => [
        isBounded ? array(field, 4) : array(field),
        fc.array(values, { maxLength: 4 }),
      ])
    );
    return fc.oneof(leaf, arrays, structOf(inner));
  };
  const structOf = (
    inner: fc.Arbitrary<Case>,
  ): fc.Arbitrary<[Struct<Fields>, fc.Arbitrary<unknown>]> =>
    fc.dictionary(fc.string({ maxLength: 4 }), fc.tuple(inner, fc.boolean()), { maxKeys: 6 })
      .map((members) => {
        const entries = Object.entries(members);
        const fields = entries.map(([key, [[field], mayMiss]]) =>
          [key, mayMiss ? optional(field) : field] as const
        );
        const values = fc.record(
          Object.fromEntries(entries.map(([key, [[, value]]]) => [key, value])),
          {
            requiredKeys: entries.filter(([, [, mayMiss]]) => !mayMiss).map(([key]) => key),
          },
        ).map((value) => ({ ...value }));
        return [struct(Object.fromEntries(fields)), values];
      });
  const pair = structOf(caseOf(2)).chain(([schema, values]) =>
    fc.tuple(fc.constant(schema), values)
  );

  test("arrives unchanged for every writer and reader", () => {
    fc.assert(
      fc.property(pair, ([schema, value]) => {
        expect(roundTrip(schema, value)).toStrictEqual(value);
      }),
      { numRuns: 300 },
    );
  });

  test("damaged records give a value within the record or a ProtocolError", () => {
    const touch = (view: unknown, field: Field): void => void plain(view, field);
    const damage = fc.array(
      fc.tuple(fc.nat(), fc.oneof(fc.integer(), fc.integer({ min: -9, max: 99 }))),
      {
        minLength: 1,
        maxLength: 4,
      },
    );
    fc.assert(
      fc.property(pair, damage, fc.nat(64), ([schema, value], changes, cut) => {
        const [writer, end] = write(schema, value);
        const at = START + writer.shift;
        const { memory } = writer;
        for (const [where, word] of changes) {
          memory.i32[(at >> 2) + where % ((end - at) >> 2)] = word;
        }
        const limit = Math.max(at, end - 8 * (cut % 4));
        const codec = codecOf(schema);
        try {
          codec.read(memory, text, at, limit);
          expect(codec.end).toBeLessThanOrEqual(limit);
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError);
        }
        try {
          touch(codecOf(schema).view(memory, text, at, limit), schema);
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe("damaged records", () => {
  test("a truncated or misplaced record is refused", () => {
    const [{ memory, shift }, end] = write(User, user);
    const at = START + shift;
    const codec = codecOf(User);
    for (let limit = at; limit < end; limit += 8) {
      expect(() => codec.read(memory, text, at, limit)).toThrow(ProtocolError);
    }
    expect(() => codec.read(memory, text, at + 4, end)).toThrow(ProtocolError);
    expect(() => codec.read(memory, text, -8, end)).toThrow(ProtocolError);
    expect(() => codec.read(memory, text, NaN, end)).toThrow(ProtocolError);
    expect(() => codec.read(memory, text, at, memory.u8.length + 8)).toThrow(ProtocolError);
    expect(() => codec.view(memory, text, at, at)).toThrow(ProtocolError);
  });

  test("two fields that share data are refused", () => {
    const schema = struct({ a: array(array(f64)) });
    const [{ memory, shift }, end] = write(schema, { a: [[1, 2, 3], [4, 5, 6]] });
    const first = (START + shift + 8) >> 2; // the slot of the first inner array
    memory.i32[first + 2] = memory.i32[first]! - 8; // the second one now points at the same data
    expect(() => codecOf(schema).read(memory, text, START + shift, end))
      .toThrow(ProtocolError);
  });
});

test.runIf(capabilities.forbidsCode)(
  "structs are refused where code generation from strings is forbidden",
  async () => {
    const source = `
    import { struct, f64 } from "${src("features/values/structs/schema/schema.ts")}";
    import { codecOf } from "${src("features/values/structs/schema/shape-of.ts")}";
    try { codecOf(struct({ x: f64 })); } catch ({ code, message }) { console.log(code, message); }
  `;
    const { output } = await runCode(source, ["--disallow-code-generation-from-strings"]);
    expect(output).toContain("HEDDLE_INVALID_ARGUMENT");
    expect(output).toContain("needs code generation from strings");
  },
);

function src(path: string): string {
  return new URL(`../../../../src/${path}`, import.meta.url).href;
}
