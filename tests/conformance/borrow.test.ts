/** `borrow()`: bytes that are read in place. */
import { afterEach, describe, expect, test } from "vitest";
import { borrow } from "../../src/mod.ts";
import { createMovingPool, type MovingPool } from "../fixtures/transfer-tasks.ts";
import { rejection } from "../support/conformance.ts";

const open = new Set<MovingPool>();

function pool(options: Parameters<typeof createMovingPool>[0] = {}): MovingPool {
  const made = createMovingPool(options);
  open.add(made);
  return made;
}

afterEach(async () => {
  const pools = [...open];
  open.clear();
  for (const each of pools) {
    await each.shutdown(100);
    const { safetyHits, inFlight } = each.stats();
    expect({ safetyHits, inFlight }).toEqual({ safetyHits: 0, inFlight: 0 });
  }
});

describe("borrowed bytes", () => {
  const bytes = Uint8Array.from({ length: 40 }, (_, index) => index);
  new DataView(bytes.buffer).setFloat64(8, 1.25, true);

  test("are read in place, by every accessor", async () => {
    const { call } = pool();
    expect(await call.readBorrowed(borrow(bytes))).toEqual({
      length: 40,
      first: 0,
      last: 39,
      none: undefined,
      float: 1.25,
      big: 0x00010203,
      little: 0x03020100,
      index: 7,
      slice: new Uint8Array([2, 3, 4]),
    });
    expect(bytes[1]).toBe(1);
  });

  test("arrive at every size and kind, inline and by message", async () => {
    const { call } = pool({ ringBytes: 4096 });
    for (const length of [0, 1, 7, 1000, 5000, 300_000]) {
      const list = new Uint8Array(length).fill(3);
      expect(await call.sumBorrowed(borrow(list))).toBe(3 * length);
      expect(await call.sumBorrowed(borrow(list.buffer))).toBe(3 * length);
      expect(await call.sumBorrowed(borrow(list.subarray(length >> 1)))).toBe(
        3 * (length - (length >> 1)),
      );
    }
    expect(await call.sumBorrowed(borrow(new Float64Array(2)))).toBe(0);
    expect(await call.sumBorrowed(borrow(bytes), Promise.resolve(false))).toBeGreaterThan(0);
  });

  test("cannot be read after the task returns or awaits", async () => {
    const { call } = pool();
    await call.sumBorrowed(borrow(bytes), true);
    expect(await rejection(call.useKept())).toMatchObject({ code: "HEDDLE_BORROW_EXPIRED" });
    expect(await rejection(call.borrowAndPromise(borrow(bytes)))).toMatchObject({
      code: "HEDDLE_BORROW_EXPIRED",
      length: 40,
    });
    expect(await call.borrowAsync(borrow(new TextEncoder().encode("abcd")))).toEqual([
      4,
      100,
      "abc",
    ]);
    expect(await rejection(call.throwWithBorrowed(borrow(bytes)))).toMatchObject({
      message: "got 40",
    });
  });

  test("release their space in the ring after each call", async () => {
    const { call } = pool({ ringBytes: 4096 });
    const list = new Uint8Array(900).fill(1);
    const sums = Array.from({ length: 300 }, () => call.sumBorrowed(borrow(list)));
    expect(new Set(await Promise.all(sums))).toEqual(new Set([900]));
  });

  test("values that cannot be borrowed are refused", () => {
    for (const bad of [null, "text", {}, [1]]) {
      expect(() => borrow(bad as unknown as Uint8Array)).toThrow(/borrow\(\) takes/);
    }
  });
});
