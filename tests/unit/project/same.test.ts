// oxlint-disable no-sparse-arrays -- holes are among what is tested
import { describe, expect, test } from "vitest";
import { differences } from "../../support/same.ts";

const resizable = (size: number, most = 32) => new ArrayBuffer(size, { maxByteLength: most });
const shared = { shared: true };

function cycle(length: number): object {
  const first: { next?: object } = {};
  let last = first;
  for (let index = 1; index < length; index++) last.next = last = { next: first };
  last.next = first;
  return first;
}

function nested(depth: number, innermost: unknown): unknown {
  let value = innermost;
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { value };
  return value;
}

/** Keys in the given order, `__proto__` like any other. */
function withKeys(...keys: string[]): object {
  return Object.fromEntries(keys.map((key) => [key, 1]));
}

/** Made twice each: equal to itself, different from its neighbour in the pair. */
const faults: Record<string, readonly [() => unknown, () => unknown]> = {
  "-0 and 0": [() => [-0], () => [0]],
  "NaN and undefined": [() => ({ a: NaN }), () => ({ a: undefined })],
  "number and bigint": [() => 1, () => 1n],
  "number and its box": [() => [1], () => [new Number(1)]],
  "boxes of -0 and 0": [() => new Number(-0), () => new Number(0)],
  "boxes of two kinds": [() => new String("1"), () => new Number(1)],
  "boxed bigints": [() => Object(1n), () => Object(2n)],
  "lone surrogates": [() => "\ud800", () => "\ufffd"],
  "undefined and missing": [() => ({ a: undefined }), () => ({})],
  "hole and undefined": [() => [1, , 2], () => [1, undefined, 2]],
  "length of an array": [() => new Array(3), () => new Array(4)],
  "extra key of an array": [() => Object.assign([1], { x: 1 }), () => [1]],
  "array and array-like": [() => [1], () => ({ 0: 1, length: 1 })],
  "order of keys": [() => withKeys("a", "b"), () => withKeys("b", "a")],
  "own __proto__": [() => withKeys("__proto__"), () => ({})],
  "null prototype": [() => Object.create(null), () => ({})],
  "class instance": [() => new (class Point {})(), () => ({})],
  "tag of a Map, not a Map": [() => ({ [Symbol.toStringTag]: "Map" }), () => new Map()],
  "order of a Map": [() => new Map([[1, 1], [2, 2]]), () => new Map([[2, 2], [1, 1]])],
  "value in a Map": [() => new Map([[1, { a: 1 }]]), () => new Map([[1, { a: 2 }]])],
  "key in a Map": [() => new Map([[[1], 1]]), () => new Map([[[2], 1]])],
  "order of a Set": [() => new Set([1, 2]), () => new Set([2, 1])],
  "size of a Set": [() => new Set([1]), () => new Set([1, 2])],
  "time": [() => new Date(1), () => new Date(2)],
  "invalid time": [() => new Date(NaN), () => new Date(0)],
  "flags": [() => /a/g, () => /a/y],
  "source": [() => /a/g, () => /b/g],
  "lastIndex": [() => Object.assign(/a/g, { lastIndex: 2 }), () => /a/g],
  "bytes": [() => new Uint8Array([1, 2]), () => new Uint8Array([1, 3])],
  "kind of view": [() => new Uint8Array(1), () => new Int8Array(1)],
  "payload of NaN": [
    () => new Float64Array(new BigInt64Array([0x7ff8000000000001n]).buffer),
    () => new Float64Array([NaN]),
  ],
  "offset": [
    () => new Uint8Array(new ArrayBuffer(8), 1, 2),
    () => new Uint8Array(new ArrayBuffer(8), 2, 2),
  ],
  "length of view": [
    () => new Uint8Array(new ArrayBuffer(8), 1, 2),
    () => new Uint8Array(new ArrayBuffer(8), 1, 3),
  ],
  "size of the buffer behind a view": [
    () => new Uint8Array(new ArrayBuffer(8), 0, 2),
    () => new Uint8Array(2),
  ],
  "bytes outside the view": [
    () => new DataView(new Uint8Array([1, 2, 3]).buffer, 0, 1),
    () => new DataView(new Uint8Array([1, 2, 4]).buffer, 0, 1),
  ],
  "resizable": [() => resizable(8), () => new ArrayBuffer(8)],
  "maxByteLength": [() => resizable(8, 16), () => resizable(8, 24)],
  "length tracking": [() => new Uint8Array(resizable(8)), () => new Uint8Array(resizable(8), 0, 8)],
  "length tracking of a DataView": [
    () => new DataView(resizable(8), 4),
    () => new DataView(resizable(8), 4, 4),
  ],
  "length tracking in a full buffer": [
    () => new Uint32Array(resizable(8, 8)),
    () => new Uint32Array(resizable(8, 8), 0, 2),
  ],
  "shared or not": [() => new SharedArrayBuffer(8), () => new ArrayBuffer(8)],
  "one object or two": [() => [shared, shared], () => [{ ...shared }, { ...shared }]],
  "which object": [
    () => ((a, b) => [a, b, a])({}, {}),
    () => ((a, b) => [a, b, b])({}, {}),
  ],
  "one buffer or two": [
    () => ((buffer) => [new Uint8Array(buffer), new Uint8Array(buffer)])(new ArrayBuffer(4)),
    () => [new Uint8Array(4), new Uint8Array(4)],
  ],
  "length of a cycle": [() => cycle(2), () => cycle(3)],
  "cycle and tree": [() => cycle(1), () => ({ next: { next: 1 } })],
  "frozen": [() => Object.freeze({ a: 1 }), () => ({ a: 1 })],
  "accessor": [
    () => ({
      get a() {
        return 1;
      },
    }),
    () => ({ a: 1 }),
  ],
  "hidden property": [
    () => Object.defineProperty({}, "a", { value: 1, writable: true, configurable: true }),
    () => ({ a: 1 }),
  ],
  "symbol key": [() => ({ [Symbol.iterator]: 1 }), () => ({})],
  "100,000 levels down": [() => nested(100_000, 1), () => nested(100_000, 2)],
};

describe("differences are found", () => {
  for (const [name, [one, other]] of Object.entries(faults)) {
    test(name, () => {
      expect(differences(one(), other())).not.toEqual([]);
      expect(differences(other(), one())).not.toEqual([]);
      if (name !== "class instance") expect(differences(one(), one())).toEqual([]);
      expect(differences(other(), other())).toEqual([]);
    });
  }
});

test("paths are readable", () => {
  expect(differences({ user: { list: [1, { "a b": 2 }] } }, { user: { list: [1, { "a b": 3 }] } }))
    .toEqual(['value.user.list[1]["a b"]: 2, expected 3']);
  expect(differences(new Map([["a", -0]]), new Map([["a", 0]]))).toEqual([
    "value{value 0}: -0, expected 0",
  ]);
  const [deep] = differences(nested(100_000, 1), nested(100_000, 2));
  expect(deep!.length).toBeLessThan(1000);
});

test("the comparison restores buffers it resized", () => {
  const buffer = resizable(8);
  new Uint8Array(buffer).set([1, 2, 3, 4, 5, 6, 7, 8]);
  const copy = structuredClone(buffer);
  expect(differences([new Uint8Array(buffer, 4)], [new Uint8Array(copy, 4)])).toEqual([]);
  expect([...new Uint8Array(buffer)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});
