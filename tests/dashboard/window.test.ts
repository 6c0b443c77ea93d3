/** Percentiles of the dashboard: of the last readings, whatever was before. */
import { expect, test } from "vitest";
import { TimeWindow } from "../../scripts/dashboard/window.ts";

test("calls before the window do not count", () => {
  const window = new TimeWindow(3);
  expect(window.add(0, [[1, 1000]])).toBeUndefined(); // since when is not known
  expect(window.add(1, [[1, 1000], [50, 10]])).toMatchObject({ p50: 50, max: 50, count: 10 });
  expect(window.add(2, [[1, 1000], [2, 30], [50, 10]])).toMatchObject({ p50: 2, p99: 50 });
  expect(window.add(3, [[1, 1000], [2, 30], [50, 10]])).toMatchObject({ count: 40 });
  expect(window.add(4, [[1, 1000], [2, 30], [50, 10]])).toMatchObject({ p99: 2, count: 30 });
  expect(window.add(5, [[1, 1000], [2, 30], [50, 10]])).toBeUndefined();
  expect(window.add(60, [[1, 1001], [2, 30], [50, 10]])).toMatchObject({ p50: 1, count: 1 });
});

test("a task that was never measured has none; its first calls count", () => {
  const window = new TimeWindow(10);
  expect(window.add(0)).toBeUndefined();
  expect(window.add(1)).toBeUndefined();
  expect(window.add(2, [[3, 4]])).toMatchObject({ p50: 3, count: 4 });
});

test("a program that was started again begins anew", () => {
  const window = new TimeWindow(10);
  window.add(0, [[1, 500], [2, 3]]);
  window.add(1, [[1, 600], [2, 3]]);
  expect(window.add(2, [[1, 4]])).toMatchObject({ p50: 1, count: 4 });
  expect(window.add(3, [[1, 4], [9, 100]])).toMatchObject({ p50: 9, count: 100 });
});
