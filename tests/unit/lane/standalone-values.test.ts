/** Values in a message of their own take as much memory as they need. */
import { expect, test } from "vitest";
import { Codec } from "../../../src/codec/codec.ts";
import {
  packReasonOf,
  packSnapshot,
  StandaloneValues,
  toSnapshot,
} from "../../../src/lane/standalone-values.ts";
import { currentRuntime } from "../../../src/runtimes/current.ts";

function createValues(): StandaloneValues {
  const access = currentRuntime;
  return new StandaloneValues(
    new Codec({ access, origin: 0, maxPayloadBytes: Infinity, allowsBorrow: true }),
  );
}

/** Values, and about how many bytes they are. */
const values: readonly (readonly [name: string, value: unknown, bytes: number])[] = [
  ["a number", 1.5, 8],
  ["undefined", undefined, 8],
  ["a text", "t".repeat(1000), 1000],
  ["an object", { a: 1, b: [true, null], c: new Date(0) }, 100],
  ["bytes", new Uint8Array(20_000).fill(3), 20_000],
  ["a long text", "t".repeat(50_000), 50_000],
  ["a longer text", "t".repeat(300_000), 300_000],
];

test.each(values)("%s", (_name, value, bytes) => {
  const { snapshots, reader } = createValues();
  const { values: packed, transfer } = packSnapshot(snapshots.capture([value]));
  const { inline, payload } = structuredClone(packed, { transfer: [...transfer] as [] });
  const taken = (inline?.buffer.byteLength ?? 0) + (payload?.buffer?.byteLength ?? 0);
  expect(taken).toBeLessThan(4 * bytes + 1024);
  expect(reader.read(toSnapshot(packed))).toEqual([value]);
});

test("an error", () => {
  const { snapshots, reader } = createValues();
  const { values: packed } = packReasonOf(snapshots, new RangeError("no"));
  expect(packed.inline!.length).toBeLessThan(4096);
  expect(reader.read(toSnapshot(packed))[0]).toEqual(new RangeError("no"));
});

test("values that are read stay as they are when others are", () => {
  const { snapshots, reader } = createValues();
  const read = (value: unknown): unknown =>
    reader.read(toSnapshot(packSnapshot(snapshots.capture([value])).values))[0];
  const first = read(new Uint8Array([1, 2, 3]));
  const second = read({ bytes: new Uint8Array([4, 5, 6]), text: "x" });
  read(new Uint8Array(3000).fill(9));
  expect(first).toEqual(new Uint8Array([1, 2, 3]));
  expect(second).toEqual({ bytes: new Uint8Array([4, 5, 6]), text: "x" });
});
