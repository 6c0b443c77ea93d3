/** Arguments and results with declared shapes. */
import { afterEach, describe, expect, test } from "vitest";
import { createPool, f64, importTask, struct, view } from "../../src/mod.ts";
import {
  createMovingPool,
  type MovingPool,
  Point,
  type Track,
} from "../fixtures/transfer-tasks.ts";
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

describe("declared shapes", () => {
  test("arguments and results of every size arrive before and after the worker is ready", async () => {
    const { call, ready } = pool({ ringBytes: 4096 });
    const early = call.echoTrack(track(3)); // held: no worker is ready yet
    await ready;
    expect(await early).toEqual(track(3));
    for (const points of [0, 1, 40, 5000]) {
      expect(await call.echoTrack(track(points))).toEqual(track(points));
    }
    expect(await call.echoTrack({ ...track(1), note: "ü".repeat(1000) })).toMatchObject({
      note: "ü".repeat(1000),
    });
    expect(await call.mirror({ x: 1, y: -0 })).toEqual({ x: -0, y: 1 });
    const many = Array.from({ length: 500 }, (_, x) => call.mirror({ x, y: 0 }));
    expect((await Promise.all(many)).map(({ y }) => y)).toEqual([...many.keys()]);
    expect(await call.echoTrackLater(track(2), 1)).toEqual(track(2));
    expect(await call.echoTrackLater(Promise.resolve(track(2)), Promise.resolve(1))).toEqual(
      track(2),
    );
  });

  test("a mismatch is refused with its path, the expected type and the actual value", async () => {
    const { call } = pool();
    const bad = { ...track(2), points: [{ x: 1, y: 2 }, { x: 1, y: "2" as unknown as number }] };
    expect(await rejection(call.echoTrack(bad))).toMatchObject({
      code: "HEDDLE_STRUCT_MISMATCH",
      path: "args[0].points[1].y",
      got: expect.stringContaining('"2"'),
    });
    expect(await rejection((call.mirror as unknown as () => Promise<unknown>)())).toMatchObject({
      code: "HEDDLE_STRUCT_MISMATCH",
      path: "args[0]",
    });
    const wrong = await rejection(call.wrongResult());
    expect((wrong as Error).message).toMatch(/^result\.y must be .*got "two"/);
    expect(await call.mirror({ x: 1, y: 2 })).toEqual({ x: 2, y: 1 });
  });

  test("a view reads in place until a synchronous task returns, and without limit in an async task", async () => {
    const { call } = pool({ ringBytes: 4096 });
    expect(await call.lengthOf(track(11), 2)).toBeCloseTo(20 * Math.sqrt(5));
    expect(await call.lengthOf(track(1001), 1)).toBeCloseTo(1000 * Math.sqrt(5));
    expect(await call.keepView(track(1))).toBe("Прогулка");
    expect(await rejection(call.nameOfKept())).toMatchObject({ code: "HEDDLE_BORROW_EXPIRED" });
    expect(await call.viewLater(track(2))).toEqual(track(2));
    for (const part of ["all", "points", "heights"]) {
      expect(((await rejection(call.giveView(track(2), part))) as Error).message).toMatch(
        /^result\.part .*it is a view: copy what it shows/,
      );
    }
  });
});

describe("importTask of a declared task", () => {
  const href = new URL("../fixtures/transfer-tasks.ts", import.meta.url);

  test("works with the same declaration and fails the pool with a different one", async () => {
    const same = importTask<(point: { x: number; y: number }) => { x: number; y: number }>({
      href,
      name: "mirror",
      args: [Point],
      returns: Point,
    });
    const right = createPool({ threads: 1 })({ mirror: same });
    expect(await right.call.mirror({ x: 1, y: 2 })).toEqual({ x: 2, y: 1 });
    await right.shutdown();
    // Of the same size, but something else.
    const Other = struct({ x: f64, z: f64 });
    const others = [
      {},
      { args: [Point] },
      { args: [view(Point)], returns: Point },
      { args: [Other], returns: Other },
    ];
    for (const wrong of others) {
      const made = createPool({ threads: 1 })({
        mirror: importTask({ href, name: "mirror", ...wrong }),
      });
      const error = await rejection(made.ready);
      expect(error).toMatchObject({ code: "HEDDLE_WORKER_START" });
      expect((error as Error).message).toMatch(/declares args: \[struct \{ "/);
      await made.shutdown();
    }
  });
});
