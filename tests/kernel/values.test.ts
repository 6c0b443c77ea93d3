/** Ordinary values arrive as `structuredClone` copies them, in both directions. */
import { expect, test } from "vitest";
import { kernelPool } from "./pools.ts";

const cyclic: Record<string, unknown> = { name: "cyclic" };
cyclic.self = cyclic;

const VALUES: readonly (readonly [string, unknown])[] = [
  ["numbers", [0, -0, 1.5, NaN, Infinity, -1, 2 ** 53]],
  ["bigints", [0n, -1n, 2n ** 64n, -(2n ** 130n)]],
  ["strings", ["", "a", "é", "日本", "\ud800", "x".repeat(100_000), "日".repeat(50_000)]],
  ["nothing", [null, undefined, true, false]],
  ["plain objects", { a: 1, b: { c: [1, 3] }, "": 2 }],
  ["objects of one kind", Array.from({ length: 1000 }, (_, id) => ({ id, name: `n${id}` }))],
  ["cycles", cyclic],
  ["dates", [new Date(0), new Date(NaN)]],
  ["maps and sets", [new Map<unknown, unknown>([[1, { a: 1 }], ["b", null]]), new Set([1, "a"])]],
  ["buffers", [
    new Uint8Array([1, 2, 3]).buffer,
    new Float64Array([1.5]),
  ]],
  ["errors", [new TypeError("t"), new Error("e", { cause: 1 })]],
  ["large bytes", new Uint8Array(3_000_000).fill(9)],
  ["nested arrays", [[[[[[[[1]]]]]]]]],
];

test.each(VALUES)("%s", async (_, value) => {
  const { call } = kernelPool({ threads: 1 });
  expect(await call.echo(value)).toEqual(structuredClone(value));
  const [again, same] = await call.both(value, value) as [unknown, unknown];
  expect(again).toEqual(structuredClone(value));
  expect(same).toEqual(again);
});

test("objects many times, so that the codec writes them by code of their keys", async () => {
  const { call } = kernelPool({ threads: 1 });
  for (let n = 0; n < 2000; n++) {
    const value = { id: n, text: `n${n}`, at: { x: n / 2, y: -n } };
    expect(await call.echo(value)).toEqual(value);
  }
});

test("bytes of both directions, small and large", async () => {
  const { call } = kernelPool({ threads: 1 });
  for (const length of [0, 1, 1000, 100_000, 5_000_000]) {
    expect(await call.lengthOf(new Uint8Array(length))).toBe(length);
    const bytes = await call.bytes(length);
    expect([bytes.length, bytes.every((byte) => byte === 7)]).toEqual([length, true]);
  }
});
