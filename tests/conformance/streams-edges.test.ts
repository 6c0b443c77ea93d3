/** Streams that are used in unusual ways, or whose iterators misbehave. */
import { describe, expect, test } from "vitest";
import { createPool, type ModulePool, type PoolOptions, transfer } from "../../src/mod.ts";
import { closedAfterTest } from "../support/conformance.ts";

type Tasks = typeof import("../fixtures/stream-edge-tasks.ts");

const url = new URL("../fixtures/stream-edge-tasks.ts", import.meta.url);

async function edgePool(options: PoolOptions = { threads: 1 }): Promise<ModulePool<Tasks>> {
  const pool = closedAfterTest(createPool(options)<Tasks>(url));
  await pool.ready;
  return pool;
}

describe("moved items", () => {
  test.each([0, 1, 600])("of a result arrive after %i others", async (numbers) => {
    const { call } = await edgePool();
    const items = await call.movedAfter(numbers).toArray();
    expect(items.length).toBe(numbers + 2);
    expect((items[numbers] as ArrayBuffer).byteLength).toBe(16);
    expect(items.at(-1)).toBe("end");
  });

  test("of an argument arrive after others, and a refused one stays", async () => {
    const { call } = await edgePool();
    const kept = new ArrayBuffer(8);
    function* source(): Generator<unknown> {
      yield 1;
      yield transfer(new ArrayBuffer(16));
      yield 2;
    }
    function* refused(): Generator<unknown> {
      yield 1;
      yield [transfer(kept), () => {}];
    }
    expect(await call.sizes(source() as never)).toEqual([1, "16 bytes", 2]);
    expect(await call.failureOf(refused() as never)).toMatch(/^DataCloneError: /);
    expect(kept.byteLength).toBe(8);
  });
});
