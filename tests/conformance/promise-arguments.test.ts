/** Promises among the arguments. */
import { afterEach, describe, expect, test } from "vitest";
import { borrow } from "../../src/mod.ts";
import { createMovingPool, type MovingPool, type Track } from "../fixtures/transfer-tasks.ts";
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

const track = (points: number): Track => ({
  id: 7,
  name: "Прогулка",
  isOpen: true,
  start: { x: -0, y: NaN },
  points: Array.from({ length: points }, (_, index) => ({ x: index, y: 2 * index })),
  heights: [0.5, -1, 1e300],
});

describe("promises among the arguments", () => {
  const three = (pool: MovingPool) => pool.call.echoAll as (...args: unknown[]) => Promise<unknown>;

  test("do not affect how the other arguments arrive", async () => {
    const { call } = pool();
    const bytes = new Uint8Array([1, 2, 3]);
    const nested = { list: [borrow(bytes)] };
    const sum = call.sumNested as (...args: unknown[]) => Promise<unknown>;
    expect(await sum(nested)).toBe(6);
    expect(await sum(nested, Promise.resolve(1))).toBe(6);
    class Computed {
      get x() {
        return 1;
      }
      get y() {
        return 2;
      }
    }
    expect(await call.mirror(new Computed())).toEqual({ x: 2, y: 1 });
    expect(await call.lengthOf(track(3), Promise.resolve(2))).toBeCloseTo(4 * Math.sqrt(5));
    expect(await call.lengthOf(Promise.resolve(track(3)), 2)).toBeCloseTo(4 * Math.sqrt(5));
  });

  test("settle in any number and order and preserve identity among the others", async () => {
    const made = pool();
    const shared = { a: 1 };
    const [a, b, c, d] = await three(made)(
      Promise.resolve("first"),
      shared,
      new Promise((resolve) => setTimeout(resolve, 5, [shared])),
      shared,
    ) as unknown[];
    expect([a, b, c]).toEqual(["first", { a: 1 }, [{ a: 1 }]]);
    expect(d).toBe(b);
    expect(await made.call.echo(Promise.resolve({ only: 1 }))).toEqual({ only: 1 });
    expect(await made.call.mirror(Promise.resolve({ x: 1, y: 2 }))).toEqual({ x: 2, y: 1 });
    const large = new Uint8Array(300_000).fill(1);
    const text = "x".repeat(2_000_000);
    expect(await three(made)(large, Promise.resolve(text), text)).toEqual([large, text, text]);
    expect(await rejection(three(made)(1, Promise.resolve(() => {})))).toMatchObject({
      code: "HEDDLE_DATA_CLONE",
    });
  });
});
